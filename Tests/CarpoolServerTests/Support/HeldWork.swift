import CarpoolSession
import CarpoolSystem

/// Runs jobs where they are asked for, or, while it is told to hold them, when the test says so.
final class HeldWork: BackgroundWork, BackgroundQueue {
    private var jobs: [() -> Void] = []
    private(set) var isHolding = false

    /// Holds jobs from now on.
    func hold() { isHolding = true }

    /// Runs what was held, and what follows from it.
    func release() {
        isHolding = false
        while !jobs.isEmpty { jobs.removeFirst()() }
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
