/// Statistics of the pool since the start.
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

/// The users whose part of the pool is queried.
public enum PoolUsers: Sendable {
    /// All users.
    case all
    /// The user of a ``ConnectionPartition``; `nil` is the process's own.
    case user(UInt32?)

    /// Whether a user is included.
    func includes(_ user: UInt32?) -> Bool {
        switch self {
        case .all: true
        case .user(let one): one == user
        }
    }
}

/// The current totals of the pool.
public struct PoolLoad: Sendable {
    /// Origins with a connection or a transfer; one counts once for each kind of connection to it.
    public var origins = 0
    /// Open connections.
    public var connections = 0
    /// Those of them that no transfer uses.
    public var idle = 0
    /// Running transfers.
    public var active = 0
    /// Transfers that wait for admission.
    public var queued = 0

    /// Makes an empty record.
    public init() {}
}

/// How the connections of a request are used by others.
public enum ConnectionSharing: Sendable {
    /// A connection carries several requests at once, if the server speaks HTTP/2.
    case multiplexed
    /// A connection carries one request at a time, and is used by the next one of any kind.
    case sequential
    /// The same, but only for requests that may be long or wait for a reader.
    case separate
}

/// The current state of one origin.
public struct OriginStatistics: Sendable {
    /// The origin.
    public var origin: Origin
    /// The user whose connections these are; `nil` for the process's own user.
    public var user: UInt32?
    /// The settings of its connections that are not the default, by their names in requests, and `host` for another
    /// `Host`.
    public var settings: [String] = []
    /// Its number in order of creation, from 1 on.
    public var number = 0
    /// Open connections.
    public var connections = 0
    /// Those of them that no transfer uses.
    public var idle = 0
    /// Running transfers.
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

extension PoolLoad {
    /// The load of one origin.
    init(_ origin: OriginStatistics) {
        origins = 1
        connections = origin.connections
        idle = origin.idle
        active = origin.active
        queued = origin.queued
    }
}
