import CarpoolRPC
@testable import CarpoolServer
import CarpoolSystem
import Testing

struct ProgressThrottleTests {
    private let first = EventSubject(session: "s", uid: 1, request: "a")
    private let second = EventSubject(session: "s", uid: 1, request: "b")

    private func at(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0).advanced(milliseconds: milliseconds)
    }

    /// Compares the result of a step; a mutating call cannot be an argument of the macro.
    private func expect<Value: Equatable>(_ given: Value, _ expected: Value) { #expect(given == expected) }

    @Test("Of the steps that come too early the newest is sent at the end of the interval")
    func newest() {
        var thinner = ProgressThrottle(intervalMilliseconds: 100)
        expect(thinner.admits(1, .requestProgress, of: first, at: at(0)), true)
        #expect(thinner.next == nil)
        expect(thinner.admits(2, .requestProgress, of: first, at: at(10)), false)
        expect(thinner.admits(3, .requestProgress, of: first, at: at(20)), false)
        #expect(thinner.next == at(100))
        expect(thinner.due(at: at(99)), [])
        expect(thinner.due(at: at(100)), [3])
        #expect(thinner.next == nil)
        expect(thinner.admits(4, .requestProgress, of: first, at: at(150)), false)
        expect(thinner.admits(5, .requestProgress, of: first, at: at(200)), true)
        #expect(thinner.next == nil, "a newer one was sent")
    }

    @Test("Requests and types are throttled separately")
    func apart() {
        var thinner = ProgressThrottle(intervalMilliseconds: 100)
        expect(thinner.admits(1, .requestProgress, of: first, at: at(0)), true)
        expect(thinner.admits(2, .requestProgress, of: second, at: at(1)), true)
        expect(thinner.admits(3, .requestUploadProgress, of: first, at: at(2)), true)
        expect(thinner.admits(4, .requestProgress, of: first, at: at(3)), false)
        expect(thinner.admits(5, .requestProgress, of: second, at: at(4)), false)
        expect(thinner.due(at: at(500)), [4, 5])
    }

    @Test("At the end of an attempt its last waiting step is sent, and its state is dropped")
    func ending() {
        var thinner = ProgressThrottle(intervalMilliseconds: 100)
        _ = thinner.admits(1, .requestProgress, of: first, at: at(0))
        _ = thinner.admits(2, .requestProgress, of: first, at: at(1))
        expect(thinner.finish(first, types: [.requestProgress, .requestUploadProgress]), [2])
        expect(thinner.finish(first, types: [.requestProgress, .requestUploadProgress]), [])
        expect(thinner.admits(3, .requestProgress, of: first, at: at(2)), true)  // the next attempt
    }
}
