public import CarpoolSystem

/// Runs work that may block, mainly on files, off the session's loop, and passes its result back to the loop. The
/// daemon uses a ``Worker``.
public protocol BackgroundWork: AnyObject {
    /// Runs `work` on another thread, and then `then` on the loop with its result.
    /// - Throws: ``WorkerError`` if too many jobs wait; then neither runs.
    func run<Value: Sendable>(
        for share: WorkerShare, _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) throws(WorkerError)
    /// Makes a queue whose jobs run in order, one at a time.
    func makeQueue(for share: WorkerShare) -> any BackgroundQueue
}

/// Jobs that run in order, one at a time, such as those of one file.
public protocol BackgroundQueue: AnyObject {
    /// Runs `work` on another thread after all jobs that were added before, and then `then` on the loop.
    /// - Throws: ``WorkerError`` if too many jobs wait; then neither runs.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) throws(WorkerError)
    /// Runs the last job of a queue, which is never refused.
    func runLast<Value: Sendable>(_ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void)
}

extension Worker: BackgroundWork {
    /// The most jobs of one file that wait behind the running one: writes are gathered, so that there are few.
    private static let jobsPerFile = 16

    /// Makes a ``WorkerQueue``.
    public func makeQueue(for share: WorkerShare) -> any BackgroundQueue {
        WorkerQueue(worker: self, share: share, limit: Worker.jobsPerFile)
    }
}

extension WorkerQueue: BackgroundQueue {}
