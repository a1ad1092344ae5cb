public import CarpoolSystem

/// A snapshot with its time and its number.
public struct ReachabilityReading: Sendable {
    /// Incremented with each reading that has a reportable difference to the one before.
    public let sequence: Int
    /// Incremented whenever the kernel reported a change, also if the snapshot is the same.
    public let generation: Int
    /// The time of the evaluation.
    public let time: MonotonicTime
    /// The same on the wall clock, in microseconds since 1970.
    public let wallTime: Int64
    /// The state of the network.
    public let snapshot: ReachabilitySnapshot

    /// Creates a reading from its parts.
    public init(
        sequence: Int, generation: Int, time: MonotonicTime, wallTime: Int64, snapshot: ReachabilitySnapshot
    ) {
        self.sequence = sequence
        self.generation = generation
        self.time = time
        self.wallTime = wallTime
        self.snapshot = snapshot
    }
}
