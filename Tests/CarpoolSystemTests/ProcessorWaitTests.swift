import Testing

@testable import CarpoolSystem

struct ProcessorWaitTests {
    private static func reading(_ time: Int, ran: Int, waited: Int = 0, timeslices: Int = 1) -> ProcessorWait.Reading {
        ProcessorWait.Reading(
            time: MonotonicTime(nanoseconds: UInt64(time) * 1_000), ran: ran, waited: waited, timeslices: timeslices)
    }

    @Test(arguments: [
        // All of the turn is the thread's own.
        (10_000, 5_000, 0, 1, 0),
        // The host took 4 ms; the thread never left its processor.
        (10_000, 1_000, 0, 1, 4_000),
        // It waited for 3 ms; the millisecond in which it ran before the turn is not told apart from it.
        (10_000, 3_000, 3_000, 2, 3_000),
        // It left its processor and did not wait: it blocked, which is its own fault.
        (10_000, 1_000, 0, 2, 0),
        // The clocks differ by a little.
        (10_000, 5_100, 0, 1, 0),
    ]) func b2WhatWasTakenFromATurn(_ end: Int, _ ran: Int, _ waited: Int, _ timeslices: Int, _ taken: Int) {
        let former = Self.reading(5_000, ran: 0)
        let now = Self.reading(end, ran: ran, waited: waited, timeslices: timeslices)
        #expect(now.taken(since: former, turnBegan: former.time) == taken)
    }

    @Test func whatWasTakenBeforeTheTurnIsNotSubtracted() {
        let former = Self.reading(5_000, ran: 0)
        let start = MonotonicTime(nanoseconds: 5_800_000)
        // 0.8 ms before the turn, of which the thread waited or lost all.
        let waited = Self.reading(10_000, ran: 4_200, waited: 800, timeslices: 2)
        #expect(waited.taken(since: former, turnBegan: start) == 0)
        #expect(Self.reading(10_000, ran: 4_200).taken(since: former, turnBegan: start) == 0)
    }

    @Test func aThreadThatRunsLosesLittle() {
        var wait = ProcessorWait()
        defer { wait.close() }
        let start = MonotonicTime.read()
        wait.begin(at: start)
        var wall = 0
        while wall < 5_000 { wall = MonotonicTime.read().microseconds(since: start) }
        #expect((0...wall).contains(wait.taken(since: start)))
    }
}
