/// An open descriptor that the loop and jobs of a ``Worker`` share, and that is closed on the worker when its last reference goes, on
/// whichever thread that happens.
public final class WorkerFile: Sendable {
    /// Where a file is closed.
    public struct Closer: Sendable {
        let worker: WorkerCloser
        let share: WorkerShare
    }

    /// The number; valid as long as this object is referenced, so that a job that uses it must capture the object.
    public let raw: Int32
    private let closer: Closer?

    /// Takes over an open descriptor; on any thread. Without a closer it is closed by whoever lets go of it last, as suits files in memory.
    public init(_ descriptor: consuming FileDescriptor, closer: Closer?) {
        raw = descriptor.release()
        self.closer = closer
    }

    deinit {
        let descriptor = FileDescriptor(owning: raw)
        guard let closer else { return }
        closer.worker.close(descriptor, for: closer.share)
    }
}
