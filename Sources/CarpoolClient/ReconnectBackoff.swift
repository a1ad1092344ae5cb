/// Exponential backoff between attempts to reconnect to the daemon.
struct ReconnectBackoff {
    /// The first pause in milliseconds.
    static let minimum = 20
    /// The longest pause in milliseconds: an attempt costs one failed connect.
    static let maximum = 1_000

    private var milliseconds = ReconnectBackoff.minimum

    /// Returns the next pause in milliseconds, and doubles it.
    mutating func next() -> Int {
        defer { milliseconds = min(ReconnectBackoff.maximum, milliseconds &* 2) }
        return milliseconds
    }
}
