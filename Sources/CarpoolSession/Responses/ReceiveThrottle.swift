internal import CarpoolSystem

/// Throttles the progress of a body that is received: at most one report in a tenth of a second, the first one a tenth
/// after the first piece. The end of the body is reported by the session (RL-23).
struct ReceiveThrottle {
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
        guard now.microseconds(since: last) >= ReceiveThrottle.intervalMicroseconds else { return false }
        self.last = now
        return true
    }
}
