import CarpoolSystem
import Testing

@testable import CarpoolHTTP

struct DeadlinesTests {
    let start = MonotonicTime(nanoseconds: 1_000_000_000)

    func after(_ milliseconds: Int) -> MonotonicTime { start.advanced(milliseconds: milliseconds) }
    func deadlines(idle: Int = 60, connect: Int = 30, resource: Int = 1_000) -> Deadlines {
        Deadlines(
            start: start, idleMilliseconds: idle, connectMilliseconds: connect,
            resource: start.advanced(milliseconds: resource))
    }

    @Test func inTheQueueOnlyTheWholeCounts() {
        #expect(deadlines().next == (after(1_000), .resource))
    }

    @Test func connectingCountsFromAdmission() {
        var deadlines = deadlines()
        deadlines.admitted(at: after(500))
        #expect(deadlines.next == (after(530), .connect))
        deadlines.connected(at: after(510))
        #expect(deadlines.next == (after(570), .idle))
    }

    @Test func whileConnectingEqualTimesAreCalledConnect() {
        var deadlines = deadlines(idle: 60, connect: 60)
        deadlines.admitted(at: start)
        #expect(deadlines.next == (after(60), .connect))
    }

    @Test func aSecondWithoutProgressEndsWhatIsAnswered() {
        var deadlines = deadlines(idle: 5_000, resource: 10_000)
        deadlines.admitted(at: start)
        deadlines.connected(at: after(1))
        deadlines.isAnswered = true
        #expect(deadlines.next == (after(1_001), .answered))
        deadlines.active(at: after(500))
        #expect(deadlines.next == (after(1_500), .answered))
        deadlines.isBodyAwaited = true
        #expect(deadlines.next == (after(5_500), .body), "the client may have more")
    }

    @Test func activityMovesTheIdleDeadline() {
        var deadlines = deadlines()
        deadlines.admitted(at: start)
        deadlines.connected(at: after(1))
        deadlines.active(at: after(100))
        #expect(deadlines.next == (after(160), .idle))
        deadlines.active(at: after(990))
        #expect(deadlines.next == (after(1_000), .resource))
    }

    @Test func silenceOfOurOwnDoesNotCount() {
        var deadlines = deadlines()
        deadlines.admitted(at: start)
        deadlines.connected(at: start)
        deadlines.paused()
        #expect(deadlines.next == (after(1_000), .resource))
        deadlines.resumed(at: after(500))
        #expect(deadlines.next == (after(560), .idle))
    }

    @Test func extendingOnlyLengthens() {
        var deadlines = deadlines()
        deadlines.admitted(at: start)
        deadlines.connected(at: start)
        deadlines.extend(idleMilliseconds: 10, resource: after(5))
        #expect(deadlines.next == (after(60), .idle))
        deadlines.extend(idleMilliseconds: 4_000, resource: after(2_000))
        #expect(deadlines.next == (after(2_000), .resource))
        deadlines.extend(idleMilliseconds: 100, resource: after(3_000))
        #expect(deadlines.next == (after(3_000), .resource))
    }
}
