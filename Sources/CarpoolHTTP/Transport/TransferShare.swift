/// The user and client of a transfer, among whom connections and turns are divided fairly: first among users, then
/// among the clients of a user.
public struct TransferShare: Hashable, Sendable {
    /// The user.
    public let user: UInt32
    /// A number for the client; equal numbers are one client.
    public let client: Int

    /// Identifies a client.
    public init(user: UInt32 = 0, client: Int = 0) {
        self.user = user
        self.client = client
    }
}

/// The priority of a waiting transfer among others to the same origin (RFC 9218 calls it urgency).
public enum TransferPriority: String, Sendable, CaseIterable {
    /// Before the others, except one turn of eight.
    case high
    /// The default.
    case normal
    /// When no other waits, and in one turn of sixteen.
    case low

    /// The rank: 0 for the highest.
    public var rank: Int {
        switch self {
        case .high: 0
        case .normal: 1
        case .low: 2
        }
    }
}
