public import CarpoolSystem

/// A snapshot with its place in the order of all.
public struct ReachabilityReading: Sendable {
    /// Grows with each reading that differs from the one before in a way that is published.
    public let sequence: Int
    /// Incremented whenever the kernel reported a change, also if the snapshot is the same in the end.
    public let generation: Int
    /// When it was read.
    public let time: MonotonicTime
    /// When it was read, in microseconds since 1970.
    public let wallTime: Int64
    /// How the network stood.
    public let snapshot: ReachabilitySnapshot

    /// Makes one from its parts.
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
