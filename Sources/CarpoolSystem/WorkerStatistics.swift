/// The state of a ``Worker`` in figures.
public struct WorkerStatistics: Sendable, Equatable {
    /// Threads that exist, idle ones included.
    public var threads = 0
    /// Jobs that run.
    public var running = 0
    /// Jobs of these that run for longer than a second.
    public var stalled = 0
    /// Jobs that wait.
    public var waiting = 0
    /// The most jobs that waited at a time.
    public var mostWaiting = 0
    /// Jobs that were done.
    public var jobs = 0
    /// Jobs that were refused because too many waited.
    public var refused = 0
    /// The longest run of a job in microseconds, including running ones.
    public var longestMicroseconds = 0
}
