public import CarpoolSystem

/// The services with which sessions store bodies in files without blocking on a disk.
public final class FileStore {
    /// Runs blocking work.
    public let work: any BackgroundWork
    /// The loop's clock.
    public let scheduler: any Scheduler
    /// The account of the bytes that wait to be written, for all files.
    public let memory: WriteMemory
    /// The open partial files.
    let partials = PartialFileTable()
    /// The worker share of a request.
    public var shareOfRequest: (any BodyOwner) -> WorkerShare = { _ in .process }

    /// Makes a store.
    public init(work: any BackgroundWork, scheduler: any Scheduler, memory: WriteMemory = WriteMemory()) {
        self.work = work
        self.scheduler = scheduler
        self.memory = memory
    }

    /// Runs a computation over so many bytes: at once if they are few, otherwise in the background.
    /// - Parameter then: gets the value, or the error if the computation was refused.
    func compute<Value: Sendable>(
        for share: WorkerShare, size: Int, _ work: @escaping @Sendable () -> Value,
        then: @escaping (Result<Value, SessionError>) -> Void
    ) {
        guard size > FileStore.inlineBytes else { return then(.success(work())) }
        run(for: share.computation, work, then: then)
    }

    /// Runs work in the background that must not be refused, because it frees something or continues what was started:
    /// retries until it is accepted.
    public func runAlways<Value: Sendable>(
        for share: WorkerShare, _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) {
        do throws(WorkerError) { try self.work.run(for: share, work, then: then) } catch {
            let again = Timer { [self] in runAlways(for: share, work, then: then) }
            scheduler.arm(again, afterMilliseconds: FileStore.retryMilliseconds)
        }
    }

    /// The delay after which refused work is retried.
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

    /// Values of up to so many bytes are hashed, parsed and written as text on the loop: that costs less than passing
    /// them to a thread.
    public static let inlineBytes = 262_144
}

extension SessionError {
    /// The worker has too many jobs already.
    static func tooMuchInTheBackground(_ error: WorkerError) -> SessionError {
        SessionError("cannot_write_to_file", "\(error)", hint: "try again later, or send fewer requests at a time")
    }
}
