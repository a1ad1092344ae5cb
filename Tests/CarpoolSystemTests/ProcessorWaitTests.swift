internal import Glibc
import Testing

@testable import CarpoolSystem

struct ProcessorWaitTests {
    private static func reading(_ time: Int, ran: Int, waited: Int = 0, switches: Int = 1) -> ProcessorWait.Reading {
        let time = MonotonicTime(nanoseconds: UInt64(time) * 1_000)
        return ProcessorWait.Reading(time: time, ran: ran, waited: waited, voluntarySwitches: switches)
    }

    @Test(arguments: [
        // All of the turn is the thread's own.
        (10_000, 5_000, 0, 1, 0),
        // The host took 4 ms; the thread did not wait for anything.
        (10_000, 1_000, 0, 1, 4_000),
        // Other threads had the processor for 3 ms and the host had it for 1.
        (10_000, 1_000, 3_000, 1, 4_000),
        // It waited for something for 1 ms, which counts as its own time, and for a processor for 3.
        (10_000, 1_000, 3_000, 2, 3_000),
        // It waited for something all the time.
        (10_000, 0, 0, 2, 0),
        // The clocks differ by a little.
        (10_000, 5_100, 0, 1, 0),
    ]) func b2WhatWasTakenFromATurn(_ end: Int, _ ran: Int, _ waited: Int, _ switches: Int, _ taken: Int) {
        let former = Self.reading(5_000, ran: 0)
        let now = Self.reading(end, ran: ran, waited: waited, switches: switches)
        #expect(now.taken(since: former, turnBegan: former.time, switches: 1) == taken)
    }

    @Test(arguments: [
        // It ran for 1 ms, waited for a processor for 1 and slept for 3.
        (1_000, 1_000, 2, 0, 3_000),
        // Before the turn it waited for events for 0.5 ms of these.
        (1_000, 1_000, 2, 500, 2_500),
        // The host took 4 ms; the thread did not wait for anything.
        (1_000, 0, 1, 0, 0),
        // The waiting for events was in part for a processor.
        (1_000, 3_900, 2, 400, 0),
    ]) func whatATurnSlept(_ ran: Int, _ waited: Int, _ switches: Int, _ idle: Int, _ slept: Int) {
        let former = Self.reading(5_000, ran: 0)
        let now = Self.reading(10_000, ran: ran, waited: waited, switches: switches)
        #expect(now.slept(since: former, idle: idle, switches: 1) == slept)
    }

    @Test func whatWasTakenBeforeTheTurnIsNotSubtracted() {
        let former = Self.reading(5_000, ran: 0)
        let start = MonotonicTime(nanoseconds: 5_800_000)
        // 0.8 ms before the turn, of which the thread waited or lost all.
        let waited = Self.reading(10_000, ran: 4_200, waited: 800, switches: 2)
        #expect(waited.taken(since: former, turnBegan: start, switches: 1) == 0)
        #expect(Self.reading(10_000, ran: 4_200).taken(since: former, turnBegan: start, switches: 1) == 0)
    }

    private static func ran() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
    }

    @Test func b2ATurnThatDoesNotBlockTakesItsProcessorTime() {
        let former = Self.ran()
        var wait = ProcessorWait()
        defer { wait.close() }
        let start = MonotonicTime.read()
        wait.begin(at: start, afterWaiting: 0)
        while Self.ran() - former < 5_000 {}
        let end = MonotonicTime.read()
        let length = end.microseconds(since: start) - wait.taken(since: start, until: end).waited
        #expect(length <= Self.ran() - former)
        #expect(length > 0)
    }

    @Test(arguments: [0, 100]) func b2ATurnThatBlocksIsAsLongAsItBlocks(_ idle: Int) {
        var wait = ProcessorWait()
        defer { wait.close() }
        // It slept for events before the turn, which does not count as the turn's.
        if idle > 0 { usleep(UInt32(idle)) }
        let start = MonotonicTime.read()
        wait.begin(at: start, afterWaiting: idle)
        usleep(20_000)
        let end = MonotonicTime.read()
        let taken = wait.taken(since: start, until: end)
        // What it waited for a processor when its time was over is another's.
        #expect(end.microseconds(since: start) - taken.waited >= 20_000)
        #expect((19_000...(end.microseconds(since: start) - taken.waited)).contains(taken.slept))
    }
}
