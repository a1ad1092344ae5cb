internal import CCurl
internal import CarpoolSystem
internal import Glibc

/// The pools of origins, their connections, and their maintenance.
extension CurlTransport {
    // MARK: Finding

    func pool(for request: TransportRequest) throws(TransportError) -> OriginPool {
        let key = OriginPool.Key(origin: request.connectionOrigin, multi: multiKey(for: request))
        if let pool = pools[key] {
            guard pool.isCounted || enter(pool) else { throw partitionError }
            return pool
        }
        guard let multi = multi(at: MultiHandle.ShardKey(key: key.multi, origin: key.origin)) else {
            throw .noMemory
        }
        let userPools = userPools(of: key.multi.partition.user)
        let queueID = queue.addOrigin(
            mayMultiplex: key.multi.httpProtocol == .multiplexed,
            connections: key.multi.isLong ? configuration.longConnectionsPerHost : configuration.connectionsPerHost,
            perClient: key.multi.isLong
                ? configuration.longConnectionsPerHostAndClient : configuration.connectionsPerHostAndClient,
            owner: userPools.number)
        let pool = OriginPool(key: key, multi: multi, queueID: queueID, userPools: userPools)
        guard enter(pool) else {
            _ = queue.removeOrigin(queueID)
            if multi.origins == 0 { multis[multi.shardKey] = nil }
            throw partitionError
        }
        pools[key] = pool
        multi.origins += 1
        pool.token = poolOrder.append(pool)
        pool.userToken = userPools.pools.append(pool)
        return pool
    }

    /// The origins of a user; kept once created, since a daemon has few users.
    private func userPools(of user: UInt32?) -> UserPools {
        if let known = users[user] { return known }
        let new = UserPools(number: users.count)
        users[user] = new
        return new
    }

    func multiKey(for request: TransportRequest) -> MultiHandle.Key {
        let partition = request.connectionPartition
        guard request.url.origin.scheme == "https" else {
            return MultiHandle.Key(partition: partition, httpProtocol: .http1, isLong: request.isLong)
        }
        let httpProtocol: MultiHandle.HTTPProtocol =
            switch (request.httpVersion, CurlLibrary.profile) {
            case (.http1, _): .http1
            case (.automatic, .multiplex) where !configuration.allowsHTTP2: .http1
            case (.automatic, .multiplex), (.http2, .multiplex): request.isLong ? .singleStream : .multiplexed
            case (.automatic, .http1): .http1
            // The older version spins while an HTTP/2 peer reads nothing of a body; a body within the first window
            // (RFC 9113, section 6.9.2) is read.
            case (.http2, .http1): request.body.lengthBytes ?? .max <= 65_535 ? .singleStream : .http1
            }
        return MultiHandle.Key(
            partition: partition, httpProtocol: httpProtocol, isLong: request.isLong,
            hasCertificates: request.needsCertificates)
    }

    private func multi(at shardKey: MultiHandle.ShardKey) -> MultiHandle? {
        if let multi = multis[shardKey] { return multi }
        let multi = MultiHandle(
            shardKey: shardKey, configuration: configuration, loop: loop, connections: connections, delegate: self)
        multis[shardKey] = multi
        return multi
    }

    // MARK: The first transfer to an origin

    func startProbe(of pool: OriginPool?) {
        guard let pool else { return }
        let probeTimer =
            pool.probeTimer
            ?? Timer { [unowned self, queueID = pool.queueID] in
                queue.probeExpired(queueID)
                observeTurn()
            }
        pool.probeTimer = probeTimer
        loop.arm(probeTimer, afterMilliseconds: configuration.probeMilliseconds)
    }

    // MARK: Connections

    func openSocket(
        family: Int32, type: Int32, protocol: Int32, pool: OriginPool, mark: ConnectionMark
    ) -> OriginConnection? {
        // Those that are shut down already have made room, although libcurl still has to close them.
        if connections.count >= configuration.connections, connections.openCount >= configuration.connections {
            evict()
        }
        let connection = connections.open(
            family: family, type: type, protocol: `protocol`, pool: pool, mark: mark)
        if let connection { return connection }
        // The next attempt will find a descriptor; this one fails and may be retried.
        let code = errno
        if Shortage.noteIfShort(code) { _ = closePool() }
        errno = code
        return nil
    }

    /// Makes a connection of a socket that is connected already.
    func adopt(_ socket: ConnectedSocket, pool: OriginPool) -> OriginConnection? {
        guard let (relay, descriptor) = socket.connect(loop) else { return nil }
        let connection = connections.add(descriptor, pool: pool)
        connection.relay = relay
        return connection
    }

    /// Closes the remaining connection attempts of a transfer that has a connection or has ended. Older versions of
    /// libcurl do not report them.
    func discardConnectAttempts(of transfer: CurlTransfer) {
        for attempt in transfer.connectAttempts where attempt.negotiated == nil { connections.discard(attempt) }
        transfer.connectAttempts = []
    }

    /// Records the connection that a transfer is about to use. Called from within libcurl.
    func attach(_ transfer: CurlTransfer, localPort: UInt16, endpoints: @autoclosure () -> OriginConnection.Endpoints) {
        if let previous = transfer.connection { connections.release(previous) }
        transfer.connection = nil
        guard let pool = transfer.pool else { return }
        guard let connection = connection(of: transfer, in: pool, localPort, endpoints()) else { return }
        transfer.connection = connection
        transfer.isReused = connection.transfers > 0
        if transfer.isReused { transfer.authentication = connection.negotiated?.authentication }
        transfer.writtenBefore = connection.isShared && connection.active == 0 ? connection.bytesWritten : nil
        connections.acquire(connection)
        guard connection.negotiated == nil, case .running(let easy) = transfer.phase else {
            return recordTunnel(of: connection, for: transfer)
        }
        transfer.newConnectionReason = newConnectionReason(of: transfer, in: pool)
        let negotiated = negotiated(by: transfer, easy)
        connections.establish(connection, negotiated)
        recordTunnel(of: connection, for: transfer)
        discardConnectAttempts(of: transfer)
        queue.didNegotiate(isHTTP2: negotiated.httpVersion == "h2", in: pool.queueID)
        if let probeTimer = pool.probeTimer { loop.cancel(probeTimer) }
        observeTurn()
        if transfer.request.url.origin.scheme == "https" { transfer.delegate?.transferDidSecureConnection(transfer) }
    }

    private func recordTunnel(of connection: OriginConnection, for transfer: CurlTransfer) {
        guard let heads = transfer.request.heads, let tunnel = connection.negotiated?.tunnel else { return }
        heads.record(tunnel, of: connection.id)
    }

    /// What is known of a connection that a transfer has made.
    private func negotiated(by transfer: CurlTransfer, _ easy: EasyHandle) -> OriginConnection.Negotiated {
        var negotiated = easy.negotiated
        if transfer.request.usesTLS { negotiated.verification = transfer.verificationResults(easy) }
        if transfer.request.needsCertificates { negotiated.certificates = easy.certificates }
        if transfer.request.partition.proxy != nil {
            let status = easy.long(CURLINFO_HTTP_CONNECTCODE)
            if status > 0 { negotiated.tunnel = ProxyTunnel(status: status, heads: transfer.tunnelAnswers.bytes) }
        }
        return negotiated
    }

    private func connection(
        of transfer: CurlTransfer, in pool: OriginPool, _ localPort: UInt16,
        _ endpoints: @autoclosure () -> OriginConnection.Endpoints
    ) -> OriginConnection? {
        guard let socket = transfer.request.partition.addresses?.socket else {
            return pool.connection(localPort: localPort, endpoints: endpoints())
        }
        guard case .running(let easy) = transfer.phase else { return nil }
        return pool.connection(
            number: easy.connectionNumber, attempt: transfer.connectAttempts.last, peer: socket.description)
    }

    /// An idle connection became readable: most often its peer has closed it. Where no bytes may arrive the
    /// connection is never used again, because 7.88.1 takes them for the response to the next request.
    func idleConnectionBecameReadable(_ connection: OriginConnection) {
        if connection.forbidsIdleInput {
            if !connection.hasNoUnexpectedInput { return end(connection) }
            // Only writable, which means nothing; from now on readability matters.
            return loop.setInterest(.readable, for: connection.descriptor, handler: connection.pool.multi)
        }
        // libcurl checks its pool at most once a second, so that the first sweep may find nothing.
        connection.sweepsPending = 2
        upkeep.isSweepUrgent = true
        connection.pool.multi.sweepAtTurnEnd()
    }

    /// Whether the connection that libcurl has chosen for a transfer has unexpected bytes or was closed: then it is
    /// ended here. Newer versions of libcurl check this themselves. Called from within libcurl.
    func refusesReuse(of localPort: UInt16, for transfer: CurlTransfer) -> Bool {
        guard CurlLibrary.profile == .http1,
            let connection = transfer.pool?.connections.first(where: { $0.endpoints?.localPort == localPort }),
            connection.idleSince != nil, connection.forbidsIdleInput,
            connection.isShutDown || !connection.hasNoUnexpectedInput
        else { return false }
        if !connection.isShutDown { end(connection) }
        return true
    }

    /// Evicts the connection that has been idle for longest.
    private func evict() {
        let idle = connections.all.filter { $0.isIdle }
        let oldest = idle.min { ($0.idleSince ?? loop.now) < ($1.idleSince ?? loop.now) }
        guard let oldest else { return }
        end(oldest)
        upkeep.evictedPools.append(oldest.pool)
        observeTurn()
    }

    /// Shuts down an idle connection at once; libcurl closes the socket when it next checks its pool.
    func end(_ connection: OriginConnection) {
        connection.shutDown()
        connection.sweepsPending = 2
        upkeep.isSweepUrgent = true
        connection.pool.multi.sweepAtTurnEnd()
    }

    /// Releases a connection that a transfer has stopped using.
    func release(_ connection: OriginConnection) {
        connections.release(connection)
        if connection.isRetired, connection.isIdle, connections[connection.descriptor] === connection {
            end(connection)
        }
    }

    func closePool() -> Int {
        var count = 0
        for connection in connections.all {
            if connection.isIdle {
                end(connection)
                count += 1
            } else {
                connection.isRetired = true
            }
        }
        return count
    }

    // MARK: Upkeep

    /// The delay of a sweep after an idle connection became readable, in milliseconds: libcurl itself waits a second
    /// between two checks.
    private static let urgentSweepMilliseconds = 1_100

    /// Maintains the pool when a turn ends: drops empty pools, and arms the sweeper while there are idle connections.
    func maintainPool() {
        if !connections.emptyPools.isEmpty { dropEmptyPools() }
        if !upkeep.evictedPools.isEmpty { closeEvictedPools() }
        guard let sweeper, connections.idle > 0 else { return }
        if upkeep.isSweepUrgent {
            upkeep.isSweepUrgent = false
            // One that is armed already is not put off: else evictions in every second would leave it no time.
            guard !upkeep.isUrgentSweepArmed || !sweeper.isArmed else { return }
            upkeep.isUrgentSweepArmed = true
            loop.arm(sweeper, afterMilliseconds: CurlTransport.urgentSweepMilliseconds)
        } else if !sweeper.isArmed {
            loop.arm(sweeper, at: nextSweep)
        }
    }

    /// The time of the next sweep: after the usual interval, or when the oldest idle connection expires, if that is
    /// sooner.
    private var nextSweep: MonotonicTime {
        let usual = loop.now.advanced(milliseconds: configuration.sweepMilliseconds)
        guard let oldest = connections.all.compactMap({ $0.idleSince }).min() else { return usual }
        // libcurl counts whole seconds, and closes connections that are idle for more of them than allowed.
        let expiry = oldest.advanced(milliseconds: (configuration.idleSeconds + 1) * 1_000 + 50)
        return expiry <= loop.now ? usual : min(usual, expiry)
    }

    func sweep() {
        upkeep.isUrgentSweepArmed = false
        var swept: Set<ObjectIdentifier> = []
        for connection in connections.all where connection.idleSince != nil {
            if connection.sweepsPending > 0 {
                connection.sweepsPending -= 1
                if connection.sweepsPending > 0 { upkeep.isSweepUrgent = true }
            }
            guard swept.insert(ObjectIdentifier(connection.pool.multi)).inserted else { continue }
            connection.pool.multi.sweepAtTurnEnd()
        }
        observeTurn()
    }

    private func dropEmptyPools() {
        for pool in connections.emptyPools {
            // The queue number of an unregistered pool may be another origin's by now.
            guard pool.connections.isEmpty, pools[pool.key] === pool else { continue }
            queue.resetProtocol(pool.queueID)
            guard queue.removeOrigin(pool.queueID) else { continue }
            if let probeTimer = pool.probeTimer { loop.cancel(probeTimer) }
            drop(pool)
        }
        connections.emptyPools.removeAll()
    }

    func drop(_ pool: OriginPool) {
        pools[pool.key] = nil
        if let token = pool.token { poolOrder.remove(token) }
        if let token = pool.userToken { pool.userPools.pools.remove(token) }
        leave(pool)
        let multi = pool.multi
        multi.origins -= 1
        // The pools of the common partition stay, since they will be used again; those of a user or of a caller's own
        // authorities may not.
        guard multi.origins == 0, multi.key.partition != ConnectionPartition() else { return }
        multis[multi.shardKey] = nil
    }
}

/// What is left to do for idle connections.
struct PoolUpkeep {
    /// Whether an idle connection became readable, so that the next sweep comes sooner.
    var isSweepUrgent = false
    /// Whether the sweeper is armed for such a sweep.
    var isUrgentSweepArmed = false
    /// Origins that have lost a connection to others in this turn.
    var evictedPools: [OriginPool] = []
}

extension EasyHandle {
    /// The protocols that were negotiated for the connection. Read from within a callback, once the connection is made.
    var negotiated: OriginConnection.Negotiated {
        var tls = CCurl_tls()
        guard CCurl_get_tls(raw, &tls) != 0 else { return OriginConnection.Negotiated(httpVersion: "http/1.1") }
        let name = UnsafeRawBufferPointer(start: tls.protocol, count: Int(tls.protocol_length))
        return OriginConnection.Negotiated(
            httpVersion: name.elementsEqual("h2".utf8) ? "h2" : "http/1.1",
            tlsVersion: tls.version.map { String(cString: $0) }, tlsCipher: tls.cipher.map { String(cString: $0) },
            authentication: ClientAuthentication.of(OpaquePointer(tls.connection)))
    }
    /// The results of the verification of the certificates, of the connection that this handle has made last.
    var verification: VerificationResults {
        var results = VerificationResults()
        results.server = long(CURLINFO_SSL_VERIFYRESULT)
        results.proxy = long(CURLINFO_PROXY_SSL_VERIFYRESULT)
        return results
    }

    /// The most bytes of what is kept of certificates; those behind are left out.
    private static let maximumCertificateBytes = 65_536

    /// What libcurl says of the certificates (CURLOPT_CERTINFO).
    var certificates: [[String]] {
        guard let information = CCurl_get_certificates(raw) else { return [] }
        var certificates: [[String]] = []
        var room = EasyHandle.maximumCertificateBytes
        for index in 0..<Int(information.pointee.num_of_certs) {
            var lines: [String] = []
            var next = information.pointee.certinfo[index]
            while let line = next {
                room -= strlen(line.pointee.data)
                guard room >= 0 else { return certificates }
                lines.append(String(cString: line.pointee.data))
                next = line.pointee.next
            }
            certificates.append(lines)
        }
        return certificates
    }
}
