import CarpoolSession
@testable import CarpoolSystem

/// Keeps jobs until the test runs them.
final class ManualWork: BackgroundWork, BackgroundQueue {
    var jobs: [() -> Void] = []
    var refuses = false

    func run<Value: Sendable>(
        for share: WorkerShare, _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) throws(WorkerError) {
        guard !refuses else { throw WorkerError(waiting: jobs.count) }
        jobs.append { then(work()) }
    }

    func makeQueue(for share: WorkerShare) -> any BackgroundQueue { self }

    func run<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) throws(WorkerError) { try run(for: .process, work, then: then) }

    func runLast<Value: Sendable>(_ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void) {
        jobs.append { then(work()) }
    }

    func runNext() { jobs.removeFirst()() }
}
