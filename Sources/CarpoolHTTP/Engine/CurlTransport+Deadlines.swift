internal import CarpoolSystem

// The deadlines of transfers.
extension CurlTransport {
    /// Arms the transfer's timer for its first deadline. Activity moves the deadline without moving the timer, which
    /// checks again when it fires. Timer and transfer retain each other until the transfer ends.
    func armDeadlineTimer(of transfer: CurlTransfer) {
        let timer = transfer.timer ?? Timer { transfer.transport.checkDeadlines(transfer) }
        transfer.timer = timer
        var next = transfer.deadlines.next.at
        if mayPend(transfer) { next = min(next, loop.now.advanced(milliseconds: pendingMilliseconds)) }
        if transfer.acknowledgements.isAwaited, !transfer.deadlines.isPaused {
            next = min(next, loop.now.advanced(milliseconds: SendAcknowledgements.milliseconds))
        }
        loop.arm(timer, at: next)
    }

    /// The interval between checks whether a transfer waits for a connection that takes no stream, in milliseconds.
    private var pendingMilliseconds: Int { configuration.probeMilliseconds }

    /// Whether libcurl may let the transfer wait for a stream of a connection that is there.
    private func mayPend(_ transfer: CurlTransfer) -> Bool {
        guard case .running = transfer.phase, let pool = transfer.pool, pool.multi.key.httpProtocol == .multiplexed,
            transfer.connection == nil, transfer.connectAttempts.isEmpty,
            !transfer.needsFreshConnection, !transfer.request.needsFreshConnection
        else { return false }
        return pool.connections.contains { $0.isShared }
    }

    /// Ends the connections without which the transfer would go on: no connection of its origin has a stream, and it
    /// waits nevertheless, such as after SETTINGS_MAX_CONCURRENT_STREAMS 0 (RFC 9113, section 6.5.2), for which libcurl
    /// would wait for ever. Returns whether there were any.
    private func endUselessConnections(of transfer: CurlTransfer) -> Bool {
        if let connection = transfer.connection {
            guard isUnsent(transfer, on: connection) else { return false }
            connection.isRetired = true
            return true
        }
        guard mayPend(transfer), !isLookingUp(transfer), let pool = transfer.pool,
            pool.connections.allSatisfy({ $0.active == 0 })
        else { return false }
        for connection in pool.connections where connection.isShared && connection.isIdle { end(connection) }
        return true
    }

    /// The fewest bytes of a request: a frame with four fields in a record of TLS 1.3. The answer to settings is
    /// shorter.
    private static let leastRequestBytes: UInt64 = 9 + 4 + 22

    /// Whether libcurl has a stream for the transfer, but has not written its first frame. The socket must be the same
    /// still: libcurl closes one whose peer has left, and makes another.
    private func isUnsent(_ transfer: CurlTransfer, on connection: OriginConnection) -> Bool {
        guard let before = transfer.writtenBefore, connection.active == 1, transfer.headReader.byteCount == 0,
            connections[connection.descriptor] === connection, let written = connection.bytesWritten
        else { return false }
        return written >= before && written - before < CurlTransport.leastRequestBytes
    }

    private func checkDeadlines(_ transfer: CurlTransfer) {
        guard !transfer.hasEnded else { return }
        transfer.noteAcknowledgements()
        transfer.connectionWasRead()
        let next = transfer.deadlines.next
        guard next.at <= loop.now else {
            if endUselessConnections(of: transfer) {
                transfer.needsFreshConnection = true
                transfer.isRefused = true
                restart(transfer)
                return observeTurn()
            }
            return armDeadlineTimer(of: transfer)
        }
        if next.kind == .idle || next.kind == .answered, transfer.awaitsShare {
            transfer.deadlines.active(at: loop.now)
            return armDeadlineTimer(of: transfer)
        }
        if finishAnswered(transfer) { return observeTurn() }
        let error = transfer.failure ?? transfer.timeoutError(next.kind)
        if next.kind == .idle { retireConnection(of: transfer) } else { retireIfSilent(transfer) }
        finish(transfer, error: error)
    }

    /// How long a peer may be silent before a connection is taken for stuck when a transfer on it is ended, in
    /// milliseconds.
    private static let silentMilliseconds = 400

    /// Retires the connection of a transfer that ends before anything has come for it: the peer may be gone or stuck,
    /// and the next request finds out on another connection.
    func retireIfSilent(_ transfer: CurlTransfer) {
        guard transfer.headReader.byteCount == 0, transfer.sendCount > 0,
            transfer.deadlines.isSilent(for: CurlTransport.silentMilliseconds, at: loop.now)
        else { return }
        retireConnection(of: transfer)
    }

    /// Retires the connection unless it would stay in use, and be the last that libcurl makes to the host: then further
    /// requests would wait for the end of others.
    private func retireConnection(of transfer: CurlTransfer) {
        guard let connection = transfer.connection else { return }
        let retired = connection.pool.connections.count { $0.hasRetiredStreams }
        guard connection.active == 1 || retired + 1 < configuration.connectionsPerHostAndClient else { return }
        connection.retireIfItStays(silentFor: CurlTransport.silentMilliseconds)
    }
}
