/// What the pool has done since the start.
public struct PoolStatistics: Sendable {
    /// Connections opened since the start.
    public var openedConnections = 0
    /// Transfers that ended on a connection that was there before them, since the start.
    public var reusedTransfers = 0
    /// Transfers that ended, however they did, since the start.
    public var finishedTransfers = 0
    /// Partitions in use: each is a pool of its own.
    public var partitions = 0

    /// Makes an empty record.
    public init() {}
}

/// Whose part of the pool is asked for.
public enum PoolUsers: Sendable {
    /// That of everybody.
    case all
    /// That of the user of a ``ConnectionPartition``; `nil` is the process's own.
    case user(UInt32?)

    /// Whether a user's connections are in it.
    func includes(_ user: UInt32?) -> Bool {
        switch self {
        case .all: true
        case .user(let one): one == user
        }
    }
}

/// What the pool holds at a moment, in sum.
public struct PoolLoad: Sendable {
    /// Origins that have a connection or a transfer; one counts for each kind of connection to it.
    public var origins = 0
    /// Open connections.
    public var connections = 0
    /// How many of them no transfer uses.
    public var idle = 0
    /// Transfers given to the network.
    public var active = 0
    /// Transfers that wait for admission.
    public var queued = 0

    /// Makes an empty record.
    public init() {}
}

/// One origin's share of the pool at a moment.
public struct OriginStatistics: Sendable {
    /// The origin.
    public var origin: Origin
    /// The user whose connections these are; `nil` for the process's own user.
    public var user: UInt32?
    /// Its place in the order in which origins came, from 1 on.
    public var number = 0
    /// Open connections.
    public var connections = 0
    /// How many of them no transfer uses.
    public var idle = 0
    /// Transfers given to the network.
    public var active = 0
    /// Transfers that wait for admission.
    public var queued = 0
    /// `h2`, `http/1.1`, or `nil` while it is not known.
    public var httpVersion: String?

    /// Makes an empty record.
    public init(origin: Origin, user: UInt32? = nil) {
        self.origin = origin
        self.user = user
    }
}
