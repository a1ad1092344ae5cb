internal import CarpoolSystem

/// The state of one origin: its number in the admission queue, and its connections.
final class OriginPool {
    /// The properties that all connections of a pool have in common.
    struct Key: Hashable {
        let origin: Origin
        let multi: MultiHandle.Key

        func hash(into hasher: inout Hasher) {
            // Nearly all origins differ in their hosts; equality decides the rest.
            hasher.combine(origin.host)
            hasher.combine(origin.port)
        }
    }

    let key: Key
    let multi: MultiHandle
    let queueID: Int
    /// The pools of the same user.
    unowned let userPools: UserPools
    /// Its tokens among all origins and among those of its user, while it is registered.
    var token: FIFOQueue<OriginPool>.Token?
    var userToken: FIFOQueue<OriginPool>.Token?
    /// The connections of the origin: at most six per client with HTTP/1.1, usually one with HTTP/2, and those of
    /// transfers that ended while they were connecting.
    var connections: [OriginConnection] = []
    /// The mark of the requests that are sent now, and of the connections that they make.
    private(set) var mark = ConnectionMark.first
    /// Whether it counts in its partition.
    var isCounted = false
    /// Ends the protocol probe, during which the first transfer to a cold origin goes alone; made when first needed.
    var probeTimer: Timer?

    init(key: Key, multi: MultiHandle, queueID: Int, userPools: UserPools) {
        self.key = key
        self.multi = multi
        self.queueID = queueID
        self.userPools = userPools
    }

    /// The user whose connections these are; `nil` for the process's own user.
    var user: UInt32? { key.multi.partition.user }

    /// The connection with this local port. The endpoints are evaluated only for a new one.
    func connection(localPort: UInt16, endpoints: @autoclosure () -> OriginConnection.Endpoints) -> OriginConnection? {
        connections.first { $0.matches(endpoints(), localPort: localPort) }
    }

    /// The connection over a Unix socket with libcurl's number, or else the one that was just opened: such connections
    /// have no ports.
    func connection(number: Int64?, attempt: OriginConnection?, peer: String) -> OriginConnection? {
        if let number, let known = connections.first(where: { $0.number == number }) { return known }
        guard let attempt, attempt.negotiated == nil else { return nil }
        attempt.identify(number: number, peer: peer)
        return attempt
    }

    /// Selects the mark of the next request, which may use the connections that have it. One under which a connection
    /// carries requests but must not get more is left: libcurl would add to them, but other connections can be used.
    /// Returns false if all marks have such a connection.
    func selectMark() -> Bool {
        guard multi.key.httpProtocol == .multiplexed, connections.contains(where: { $0.hasRetiredStreams }) else {
            return true
        }
        let left = Set(connections.lazy.filter { $0.hasRetiredStreams }.map { $0.mark })
        guard left.contains(mark) else { return true }
        let usable = connections.first { $0.isOpen && !left.contains($0.mark) }?.mark
        guard let next = usable ?? ConnectionMark.all.first(where: { !left.contains($0) }) else { return false }
        mark = next
        return true
    }

    /// The statistics of the origin.
    func statistics<Element>(_ queue: AdmissionQueue<Element>) -> OriginStatistics {
        var result = OriginStatistics(origin: key.origin, user: user)
        result.settings = key.multi.partition.differences
        result.connections = connections.count { $0.isOpen }
        result.idle = connections.count { $0.isIdle }
        result.active = queue.active(in: queueID)
        result.queued = queue.waiting(in: queueID)
        result.httpVersion = connections.lazy.compactMap { $0.negotiated?.httpVersion }.first
        return result
    }
}

/// The pools of one user, in order of creation.
final class UserPools {
    /// The number under which the admission queue keeps their sums.
    let number: Int
    var pools = FIFOQueue<OriginPool>()
    /// Connections opened, transfers that ended, and those of them on a connection that was there, since the start.
    private(set) var openedConnections = 0
    private(set) var finishedTransfers = 0
    private(set) var reusedTransfers = 0
    /// The user's partitions, and how many origins each has.
    var partitions: [ConnectionPartition: Int] = [:]

    init(number: Int) { self.number = number }

    /// Counts a connection that was opened.
    func countConnection() { openedConnections += 1 }

    /// Counts a transfer that has ended.
    /// - Parameter isReused: whether its connection was there before it.
    func countTransfer(isReused: Bool) {
        finishedTransfers += 1
        if isReused { reusedTransfers += 1 }
    }
}
