import CarpoolSession
import CarpoolSystem

/// Runs every job where it is submitted, so that nothing happens between two lines of a test.
final class InlineWork: BackgroundWork, BackgroundQueue {
    func run<Value: Sendable>(
        for share: WorkerShare, _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) { then(work()) }

    func makeQueue(for share: WorkerShare) -> any BackgroundQueue { self }

    func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void) { then(work()) }

    func runLast<Value: Sendable>(_ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void) {
        then(work())
    }
}
