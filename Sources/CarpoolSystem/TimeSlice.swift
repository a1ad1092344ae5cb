/// The maximum time of a piece of work before other work runs.
public struct TimeSlice {
    private let end: MonotonicTime

    /// A slice that begins now.
    public init(microseconds: Int) {
        end = MonotonicTime(nanoseconds: MonotonicTime.read().nanoseconds &+ UInt64(max(0, microseconds)) &* 1_000)
    }

    /// A slice that began at some point.
    init(microseconds: Int, from start: MonotonicTime) {
        end = MonotonicTime(nanoseconds: start.nanoseconds &+ UInt64(max(0, microseconds)) &* 1_000)
    }

    /// Whether it is over; reads the clock.
    public var isOver: Bool { MonotonicTime.read() >= end }
}

/// The time of one phase of a turn: the clock is first read after the phase's first step, so that a phase of one step
/// reads none.
struct PhaseBudget {
    private var slice: TimeSlice?

    /// The time of one phase. A turn has five phases, so that it stays below 20 ms while no single step takes long.
    private static let microseconds = 3_000

    /// Whether the time is used up, so that the rest of the phase waits for the next turn.
    mutating func isSpent() -> Bool {
        if let slice { return slice.isOver }
        slice = TimeSlice(microseconds: PhaseBudget.microseconds)
        return false
    }
}
