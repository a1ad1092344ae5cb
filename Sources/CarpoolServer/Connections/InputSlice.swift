internal import CarpoolSystem

/// The work that one connection may do before the others have their turn: at most 64 calls or half a millisecond, and a
/// single call in a turn of the loop that is long already. The clock is first read after the first call.
struct InputSlice {
    private let turn: MonotonicTime
    private var slice: TimeSlice?
    private var calls = 0

    private static let maximumCalls = 64
    private static let microseconds = 500
    /// A turn that has taken longer is a long one.
    private static let longTurnMicroseconds = 2_000

    /// A slice in a turn that began then.
    init(since turn: MonotonicTime) { self.turn = turn }

    /// Notes one more handled call. Returns whether the slice is over.
    mutating func isOver() -> Bool {
        calls += 1
        if let slice { return calls >= InputSlice.maximumCalls || slice.isOver }
        slice = TimeSlice(microseconds: InputSlice.microseconds)
        return MonotonicTime.read().microseconds(since: turn) > InputSlice.longTurnMicroseconds
    }
}
