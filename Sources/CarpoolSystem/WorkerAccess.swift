/// A ``Worker`` and the share that its jobs are for.
public struct WorkerAccess {
    /// Runs the jobs.
    public let worker: Worker
    /// The account of the jobs.
    public let share: WorkerShare

    /// Puts the two together.
    public init(_ worker: Worker, share: WorkerShare) {
        self.worker = worker
        self.share = share
    }

    /// Runs a job; see ``Worker/run(for:_:then:)``.
    public func run<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) throws(WorkerError) {
        try worker.run(for: share, work, then: then)
    }

    /// Runs a job that continues what has begun; see ``Worker/runAlways(for:_:then:)``.
    public func runAlways<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) {
        worker.runAlways(for: share, work, then: then)
    }

    /// Closes the files of this share.
    public var closer: WorkerFile.Closer { WorkerFile.Closer(worker: worker.closer, share: share) }
}
