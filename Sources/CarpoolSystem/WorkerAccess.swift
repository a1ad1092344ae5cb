/// A ``Worker`` and the share that its jobs are for.
public struct WorkerAccess {
    /// Runs the jobs.
    public let worker: Worker
    /// The account of the jobs.
    public let share: WorkerShare

    /// Combines a worker and a share.
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

    /// Runs a job that continues earlier work; see ``Worker/runAlways(for:_:then:)``.
    public func runAlways<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) {
        worker.runAlways(for: share, work, then: then)
    }

    /// Closes the files that this process opens for this share.
    public var closer: WorkerFile.Closer {
        WorkerFile.Closer(worker: worker.closer, share: share, isForPassed: false)
    }

    /// Closes the descriptors that the client of this share passes, and its socket: see
    /// ``Worker/hasTooManyToClose(_:)``.
    public var closerOfPassed: WorkerFile.Closer {
        WorkerFile.Closer(worker: worker.closer, share: share, isForPassed: true)
    }
}
