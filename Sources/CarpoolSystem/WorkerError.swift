/// Why the ``Worker`` does not take a job.
public struct WorkerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// How many jobs wait already: the limit.
    public let waiting: Int

    /// Says how many jobs wait, and for what.
    public var description: String { "\(waiting) file operations wait already; a disk may have stalled" }
}
