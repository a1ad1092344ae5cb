import CarpoolSession
@testable import CarpoolSystem

/// A clock that a test advances.
final class ManualScheduler: Scheduler {
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
    /// The waiting jobs, by their time.
    private var armed: [(deadline: MonotonicTime, timer: Timer)] = []

    var count: Int { armed.count }

    /// Whether work in slices waits for ``runHeldSlices()``.
    var holdsSlices = false
    private var held: [any SlicedWork] = []

    func arm(_ timer: Timer, afterMilliseconds milliseconds: Int) {
        cancel(timer)
        armed.append((now.advanced(milliseconds: milliseconds), timer))
    }

    func cancel(_ timer: Timer) { armed.removeAll { $0.timer === timer } }

    func post(_ block: @escaping @Sendable () -> Void) { block() }

    func runInSlices(_ work: any SlicedWork) {
        if holdsSlices { held.append(work) } else { while work.runSlice() {} }
    }

    /// Runs the held work.
    func runHeldSlices() {
        holdsSlices = false
        for work in held { while work.runSlice() {} }
        held = []
    }

    /// Advances the time, and runs what is due in its order.
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
