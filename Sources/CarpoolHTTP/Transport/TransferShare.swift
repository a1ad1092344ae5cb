/// Whose a transfer is, for those who divide connections and turns fairly: first among users, then among the clients of a user.
public struct TransferShare: Hashable, Sendable {
    /// The user.
    public let user: UInt32
    /// A number for the client; equal numbers are one client.
    public let client: Int

    /// Makes the name of a client.
    public init(user: UInt32 = 0, client: Int = 0) {
        self.user = user
        self.client = client
    }
}

/// How soon a waiting transfer has its turn, compared with others to the same origin (RFC 9218 calls it urgency).
public enum TransferPriority: String, Sendable, CaseIterable {
    /// Before the others, but for one turn of eight.
    case high
    /// The default.
    case normal
    /// When nothing else waits, and in one turn of sixteen.
    case low

    /// The place in the order: 0 for the highest.
    var rank: Int {
        switch self {
        case .high: 0
        case .normal: 1
        case .low: 2
        }
    }
}
