internal import CarpoolSystem

/// The partitions of a user: how many there are, and why a connection was not reused.
extension CurlTransport {
    /// Counts an origin in its partition. Returns false if the user has as many partitions as allowed, and all are in
    /// use.
    func enter(_ pool: OriginPool) -> Bool {
        let (partition, pools) = (pool.key.multi.partition, pool.userPools)
        let isCommon = partition.settings == nil && partition.host == nil
        if !isCommon, pools.partitions[partition] == nil, pools.partitions.count >= configuration.partitionsPerUser {
            guard endIdlePartition(of: pools) else { return false }
        }
        pools.partitions[partition, default: 0] += 1
        pool.isCounted = true
        return true
    }

    /// Removes an origin from its partition.
    func leave(_ pool: OriginPool) {
        guard pool.isCounted else { return }
        pool.isCounted = false
        let (partition, pools) = (pool.key.multi.partition, pool.userPools)
        let count = (pools.partitions[partition] ?? 1) - 1
        pools.partitions[partition] = count > 0 ? count : nil
    }

    /// Closes a partition that no transfer uses. Returns whether there was one.
    private func endIdlePartition(of pools: UserPools) -> Bool {
        var busy: Set<ConnectionPartition> = []
        var idle: [ConnectionPartition: [OriginPool]] = [:]
        pools.pools.read(after: -1) { _, pool in
            let partition = pool.key.multi.partition
            if queue.active(in: pool.queueID) > 0 || queue.waiting(in: pool.queueID) > 0 {
                busy.insert(partition)
            } else if pool.isCounted, partition.settings != nil || partition.host != nil {
                idle[partition, default: []].append(pool)
            }
            return true
        }
        for (partition, origins) in idle where !busy.contains(partition) {
            for pool in origins { close(pool) }
            // An origin with paused transfers stays, and so does its partition.
            if pools.partitions[partition] == nil { return true }
        }
        return false
    }

    /// Closes the partitions whose last connection had to make room: by a sweep, libcurl would close it only after a
    /// second.
    func closeEvictedPools() {
        for pool in upkeep.evictedPools where pools[pool.key] === pool {
            let partition = pool.key.multi.partition
            guard partition.settings != nil || partition.host != nil, pool.connections.allSatisfy({ $0.isShutDown }),
                queue.active(in: pool.queueID) == 0, queue.waiting(in: pool.queueID) == 0
            else { continue }
            close(pool)
        }
        upkeep.evictedPools.removeAll()
    }

    /// Removes an origin that no transfer uses, and its connections. Their handle is closed with its last origin, not
    /// by the next sweep: a second is long enough for a client to use thousands of partitions.
    private func close(_ pool: OriginPool) {
        queue.resetProtocol(pool.queueID)
        guard queue.removeOrigin(pool.queueID) else { return }
        if let probeTimer = pool.probeTimer { loop.cancel(probeTimer) }
        for connection in pool.connections where connection.isIdle { connection.shutDown() }
        drop(pool)
        let multi = pool.multi
        if multi.origins == 0, multi.transfers == 0 { multi.close() }
    }

    /// The error when a user has too many partitions.
    var partitionError: TransportError {
        TransportError(
            .resourceUnavailable,
            "requests with \(configuration.partitionsPerUser) different settings of connections are running",
            isRetryable: true)
    }

    /// Why a transfer has made a connection instead of using one that was there.
    func newConnectionReason(of transfer: CurlTransfer, in pool: OriginPool) -> NewConnectionReason {
        if transfer.request.needsFreshConnection || transfer.needsFreshConnection { return .required }
        if pool.connections.contains(where: { $0.isOpen }) { return .busy }
        // Without other partitions there is nothing to search.
        guard pool.userPools.pools.count > 1 else { return .first }
        var reason = NewConnectionReason.first
        var searched = 0
        pool.userPools.pools.read(after: -1) { _, other in
            searched += 1
            guard searched <= CurlTransport.searchedPools else { return false }
            guard other !== pool, other.key.origin == pool.key.origin, other.connections.contains(where: { $0.isOpen })
            else { return true }
            reason = other.key.multi.partition == pool.key.multi.partition ? .kind : .settings
            return reason != .kind
        }
        return reason
    }

    /// The most origins that are searched for a connection with other settings.
    private static let searchedPools = 256
}
