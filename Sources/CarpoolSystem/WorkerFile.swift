/// An open descriptor that the loop and jobs of a ``Worker`` share, and that is closed on the worker when its last
/// reference is released, on whichever thread that happens.
public final class WorkerFile: Sendable {
    /// The worker on which a file is closed, and the share of that job.
    public struct Closer: Sendable {
        let worker: WorkerCloser
        let share: WorkerShare
        /// Whether it is a client's: a passed descriptor or a socket, which is counted for the user.
        let isForPassed: Bool
    }

    /// The number; valid as long as this object is referenced, so that a job that uses it must capture the object.
    public let raw: Int32
    private let closer: Closer?

    /// Takes over an open descriptor; on any thread. Without a closer it is closed by the thread that releases it
    /// last, which only suits files in memory that this process has made: closing a file waits for its file system,
    /// closing a socket for its linger time, and freeing a large file in memory takes long.
    public init(_ descriptor: consuming FileDescriptor, closer: Closer?) {
        raw = descriptor.release()
        self.closer = closer
    }

    /// Takes over another descriptor, which is closed as this one is.
    public func sibling(_ descriptor: consuming FileDescriptor) -> WorkerFile {
        WorkerFile(descriptor, closer: closer)
    }

    deinit {
        let descriptor = FileDescriptor(owning: raw)
        guard let closer else { return }
        closer.worker.close(descriptor, for: closer.share, isPassed: closer.isForPassed)
    }
}
