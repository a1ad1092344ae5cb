/// An open descriptor that the loop and jobs of a ``Worker`` share, and that is closed on the worker when its last reference goes, on
/// whichever thread that happens.
public final class WorkerFile: Sendable {
    /// The number; valid as long as this object is referenced, so that a job that uses it must capture the object.
    public let raw: Int32
    private let share: WorkerShare
    private let closer: WorkerCloser

    /// Takes over an open descriptor; on any thread.
    public init(_ descriptor: consuming FileDescriptor, share: WorkerShare, closer: WorkerCloser) {
        raw = descriptor.release()
        self.share = share
        self.closer = closer
    }

    deinit { closer.close(FileDescriptor(owning: raw), for: share) }
}
