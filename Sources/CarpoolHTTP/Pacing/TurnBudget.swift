internal import CarpoolSystem

/// The number of bytes that a turn of the loop may move between the daemon and the origins. A value: it counts bytes
/// and callbacks, and decides when a transfer pauses.
///
/// Small responses are never counted against it: it limits transfers that have moved something in this turn already,
/// so that one fast origin costs the others less than a millisecond a turn.
struct TurnBudget {
    /// The bytes of all large transfers in one turn: half a millisecond of copying.
    static let bytesPerTurn = 524_288
    /// Minimum number of bytes that a transfer moves before it waits for others: smaller shares would cost throughput.
    static let smallestShare = 131_072
    /// The bytes that one turn may move over connections that carry many transfers, where a pause fills libcurl's
    /// memory.
    static let sharedBytesPerTurn = 8 * bytesPerTurn
    /// A connection that moves this many bytes in one action waits for its turn after the small ones.
    static let bulkBytes = 32_768
    /// Maximum age of a turn in which deferrable work is begun.
    static let turnMicroseconds = 3_000
    /// Maximum time of one call of libcurl before its transfers are paused.
    static let actionMicroseconds = 2_000
    /// The number of callbacks between two readings of the clock.
    private static let callbacksPerReading = 64

    private var turn = -1
    private var callbacks = 0
    private var actionStart: MonotonicTime?
    private var isActionOver = false
    /// The bytes that were moved in this turn, in both directions.
    private(set) var moved = 0

    /// Whether no more large transfers are served in this turn.
    var isSpent: Bool { moved >= TurnBudget.bytesPerTurn }

    /// The largest piece of a body to send: what is left of the turn, and at least as much as a piece of a response
    /// has.
    var largestPiece: Int { max(16_384, TurnBudget.bytesPerTurn &- moved) }

    /// Sets the turn of the loop; a new one begins at zero.
    mutating func begin(turn: Int) {
        guard turn != self.turn else { return }
        self.turn = turn
        moved = 0
    }

    /// Begins to measure a call of libcurl.
    mutating func beginAction() {
        callbacks = 0
        actionStart = nil
        isActionOver = false
    }

    /// Adds bytes that were moved.
    mutating func move(_ count: Int) { moved &+= count }

    /// The most that one transfer moves in this turn while others wait for theirs.
    static func share(waiting: Int) -> Int { max(smallestShare, bytesPerTurn / (waiting + 1)) }

    /// Counts a callback, and returns whether the transfer must wait for a later turn.
    /// - Parameters:
    ///   - own: what the transfer has moved in this turn.
    ///   - share: what it may move in this turn.
    ///   - isShared: whether its connection carries other transfers at the same time.
    ///   - isWhole: whether libcurl has nothing left of what it has read; it copies what is left when it pauses.
    mutating func mustWait(own: Int, share: Int, isShared: Bool, isWhole: Bool) -> Bool {
        if isActionTooLong() { return true }
        if own == 0 { return false }
        if isShared { return moved >= TurnBudget.sharedBytesPerTurn }
        let excess = max(own &- share, moved &- TurnBudget.bytesPerTurn)
        return excess >= (isWhole ? 0 : TurnBudget.smallestShare)
    }

    /// Reads the clock seldom: most actions are over after a few callbacks.
    private mutating func isActionTooLong() -> Bool {
        callbacks += 1
        guard callbacks % TurnBudget.callbacksPerReading == 0 else { return isActionOver }
        let now = MonotonicTime.read()
        guard let actionStart else {
            self.actionStart = now
            return false
        }
        isActionOver = now.microseconds(since: actionStart) >= TurnBudget.actionMicroseconds
        return isActionOver
    }
}
