/// Statistics of the pool.
extension CurlTransport {
    /// The statistics of the pool since the start.
    public var statistics: PoolStatistics {
        var result = PoolStatistics()
        result.openedConnections = connections.established
        result.finishedTransfers = finishedTransfers
        result.reusedTransfers = reusedTransfers
        result.partitions = Set(multis.keys.map(\.key)).count
        return result
    }

    /// The statistics of the users' part of the pool since the start.
    public func statistics(of users: PoolUsers) -> PoolStatistics {
        if case .all = users { return statistics }
        var result = PoolStatistics()
        for (user, own) in self.users where users.includes(user) {
            result.openedConnections += own.openedConnections
            result.finishedTransfers += own.finishedTransfers
            result.reusedTransfers += own.reusedTransfers
        }
        result.partitions = Set(multis.keys.lazy.map(\.key).filter { users.includes($0.partition.user) }).count
        return result
    }

    /// The connections that a request could share. Opens none.
    public func connections(for request: TransportRequest) -> PoolLoad {
        let key = OriginPool.Key(origin: request.connectionOrigin, multi: multiKey(for: request))
        guard let pool = pools[key] else { return PoolLoad() }
        return PoolLoad(pool.statistics(queue))
    }

    /// How those connections are used by other requests.
    public func sharing(of request: TransportRequest) -> ConnectionSharing {
        let key = multiKey(for: request)
        if key.isLong || key.hasCertificates { return .separate }
        return key.httpProtocol == .multiplexed ? .multiplexed : .sequential
    }

    /// The totals of the pool. Connections are few and counted here; the rest is counted as it changes.
    public func load(of users: PoolUsers) -> PoolLoad {
        var result = PoolLoad()
        for (user, own) in self.users where users.includes(user) {
            let load = queue.load(of: own.number)
            result.origins += own.pools.count
            result.active += load.active
            result.queued += load.waiting + (user.map { lookups.waiting(of: $0) } ?? lookups.waiting)
        }
        for connection in connections.all where users.includes(connection.pool.user) {
            if connection.isOpen { result.connections += 1 }
            if connection.isIdle { result.idle += 1 }
        }
        return result
    }

    /// The statistics of at most `count` origins with numbers above one.
    public func origins(of users: PoolUsers, after number: Int, atMost count: Int) -> [OriginStatistics] {
        let pools =
            switch users {
            case .all: poolOrder
            case .user(let user): self.users[user]?.pools ?? FIFOQueue()
            }
        var result: [OriginStatistics] = []
        // Tokens begin at 0.
        pools.read(after: number &- 1) { token, pool in
            guard result.count < count else { return false }
            result.append(pool.statistics(queue))
            result[result.count - 1].number = token &+ 1
            return true
        }
        return result
    }
}
