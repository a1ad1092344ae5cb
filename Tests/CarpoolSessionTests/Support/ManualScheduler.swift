import CarpoolSession
@testable import CarpoolSystem

/// A clock that a test turns.
final class ManualScheduler: Scheduler {
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
    /// What waits, by its time.
    private var armed: [(deadline: MonotonicTime, timer: Timer)] = []

    var count: Int { armed.count }

    func arm(_ timer: Timer, afterMilliseconds milliseconds: Int) {
        cancel(timer)
        armed.append((now.advanced(milliseconds: milliseconds), timer))
    }

    func cancel(_ timer: Timer) { armed.removeAll { $0.timer === timer } }

    func post(_ block: @escaping @Sendable () -> Void) { block() }

    func runInSlices(_ work: any SlicedWork) { while work.runSlice() {} }

    /// Lets time go by, and what is due happen in its order.
    func advance(milliseconds: Int) {
        let end = now.advanced(milliseconds: milliseconds)
        while let next = armed.filter({ $0.deadline <= end }).min(by: { $0.deadline < $1.deadline }) {
            now = max(now, next.deadline)
            cancel(next.timer)
            next.timer.action()
        }
        now = end
    }
}
