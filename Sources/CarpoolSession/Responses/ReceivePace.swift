internal import CarpoolSystem

/// Decides when to report the progress of a body: ten times a second, and once more at its end (RL-23).
struct ReceivePace {
    /// How many bytes have arrived.
    private(set) var count: Int64 = 0
    private var last: MonotonicTime?

    private static let intervalMicroseconds = 100_000

    /// Counts a piece. Returns whether to report the progress.
    mutating func step(_ bytes: Int, at now: MonotonicTime) -> Bool {
        count &+= Int64(bytes)
        guard let last else {
            last = now
            return false
        }
        guard now.microseconds(since: last) >= ReceivePace.intervalMicroseconds else { return false }
        self.last = now
        return true
    }
}
