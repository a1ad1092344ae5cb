public import CarpoolSystem

/// What sessions need to keep bodies in files without waiting for a disk.
public final class FileStore {
    /// Runs what may block.
    public let work: any BackgroundWork
    /// The loop's clock.
    public let scheduler: any Scheduler
    /// What is gathered for all files.
    public let memory: WriteMemory
    /// The partial files that requests have.
    let partials = PartialFileTable()
    /// The account of a request's jobs.
    public var shareOfRequest: (Request) -> WorkerShare = { _ in .process }

    /// Makes a store.
    public init(work: any BackgroundWork, scheduler: any Scheduler, memory: WriteMemory = WriteMemory()) {
        self.work = work
        self.scheduler = scheduler
        self.memory = memory
    }

    /// Runs a computation over so many bytes: at once if they are few, else in the background.
    /// - Parameter then: gets the value, or why the computation was refused.
    func compute<Value: Sendable>(
        for share: WorkerShare, size: Int, _ work: @escaping @Sendable () -> Value,
        then: @escaping (Result<Value, SessionError>) -> Void
    ) {
        guard size > FileStore.inlineBytes else { return then(.success(work())) }
        run(for: share.computation, work, then: then)
    }

    /// Runs work in the background that must not be refused, because it gives something back or continues what has begun: again, until it is
    /// taken.
    public func runAlways<Value: Sendable>(
        for share: WorkerShare, _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) {
        do throws(WorkerError) { try self.work.run(for: share, work, then: then) } catch {
            let again = Timer { [self] in runAlways(for: share, work, then: then) }
            scheduler.arm(again, afterMilliseconds: FileStore.retryMilliseconds)
        }
    }

    /// When work is tried again that was refused.
    private static let retryMilliseconds = 100

    /// Runs work in the background.
    public func run<Value: Sendable>(
        for share: WorkerShare, _ work: @escaping @Sendable () -> Value,
        then: @escaping (Result<Value, SessionError>) -> Void
    ) {
        do throws(WorkerError) {
            try self.work.run(for: share, work) { then(.success($0)) }
        } catch {
            then(.failure(.tooMuchInTheBackground(error)))
        }
    }

    /// Values of up to so many bytes are hashed, parsed and written as text on the loop: that takes less than handing them to a thread.
    public static let inlineBytes = 262_144
}

extension SessionError {
    /// The worker has too many jobs already.
    static func tooMuchInTheBackground(_ error: WorkerError) -> SessionError {
        SessionError("cannot_write_to_file", "\(error)", hint: "try again later, or with fewer requests at a time")
    }
}
