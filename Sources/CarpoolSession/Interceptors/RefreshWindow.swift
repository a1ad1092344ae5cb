public import CarpoolSystem

/// How often a credential may be refreshed in a stretch of time (AI-12): what stops a loop with an origin that refuses every credential.
public struct RefreshWindow: Equatable, Sendable {
    /// The length of the stretch, in milliseconds.
    public let intervalMilliseconds: Int
    /// The most refreshes in it; 0 allows none at all.
    public let maximumAttempts: Int
    private var attempts: [MonotonicTime] = []

    /// Makes a window.
    public init(intervalMilliseconds: Int = 30_000, maximumAttempts: Int = 5) {
        self.intervalMilliseconds = intervalMilliseconds
        self.maximumAttempts = maximumAttempts
    }

    /// Whether one more refresh may begin; if so, it counts from now on. Forgets those that have left the window.
    public mutating func admit(at now: MonotonicTime) -> Bool {
        attempts.removeAll { $0.advanced(milliseconds: intervalMilliseconds) < now }
        guard attempts.count < maximumAttempts else { return false }
        attempts.append(now)
        return true
    }
}
