/// The error of a ``Worker`` that accepts no job because too many wait.
public struct WorkerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The number of waiting jobs: the limit.
    public let waiting: Int

    /// The number of waiting jobs, and what they wait for.
    public var description: String { "\(waiting) file operations wait already; a disk may have stalled" }
}
