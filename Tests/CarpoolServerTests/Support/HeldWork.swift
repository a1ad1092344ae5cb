import CarpoolSession
import CarpoolSystem

/// Runs jobs at once, or holds them until the test releases them.
final class HeldWork: BackgroundWork, BackgroundQueue {
    private var jobs: [() -> Void] = []
    private(set) var isHolding = false

    /// Holds jobs from now on.
    func hold() { isHolding = true }

    /// Runs the held jobs, and those that follow from them.
    func release() {
        isHolding = false
        while !jobs.isEmpty { jobs.removeFirst()() }
    }

    /// Runs the held jobs, the last one first, as a worker with several threads may.
    func releaseLastFirst() {
        isHolding = false
        while let job = jobs.popLast() { job() }
    }

    private func add(_ job: @escaping () -> Void) {
        if isHolding { jobs.append(job) } else { job() }
    }

    func run<Value: Sendable>(
        for share: WorkerShare, _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) { add { then(work()) } }

    func makeQueue(for share: WorkerShare) -> any BackgroundQueue { self }

    func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void) {
        add { then(work()) }
    }

    func runLast<Value: Sendable>(_ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void) {
        add { then(work()) }
    }
}
