public import CarpoolSystem

/// Limits the refreshes of a credential within a time window (AI-12), to stop a loop with an origin that rejects every
/// credential.
public struct RefreshWindow: Hashable, Sendable {
    /// The length of the window, in milliseconds.
    public let intervalMilliseconds: Int
    /// The most refreshes within the window; 0 allows none.
    public let maximumAttempts: Int
    private var attempts: [MonotonicTime] = []

    /// Makes a window.
    public init(intervalMilliseconds: Int = 30_000, maximumAttempts: Int = 5) {
        self.intervalMilliseconds = intervalMilliseconds
        self.maximumAttempts = maximumAttempts
    }

    /// Returns whether one more refresh may begin, and counts it if so. Refreshes that have left the window are
    /// removed.
    public mutating func admit(at now: MonotonicTime) -> Bool {
        attempts.removeAll { $0.advanced(milliseconds: intervalMilliseconds) < now }
        guard attempts.count < maximumAttempts else { return false }
        attempts.append(now)
        return true
    }
}
