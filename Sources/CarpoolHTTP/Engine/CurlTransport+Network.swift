internal import CarpoolSystem

/// What follows for connections when the machine's network changes.
extension CurlTransport {
    /// How long nothing may arrive over a connection whose own address has gone, in milliseconds: addresses that are renewed come back sooner.
    private static let lostAddressMilliseconds = 1_000

    /// Tells which addresses the machine has now, as inet_ntop(3) writes them; all of them, whenever they may have changed.
    ///
    /// The kernel keeps connections from an address that has gone and says nothing: whoever used them would wait for an answer in vain. Idle ones
    /// are closed at once, and those in use serve no other transfer; if nothing arrives over them for a second and the address has not come back,
    /// their transfers fail with ``TransportError/Code/networkConnectionLost``. Connections from other addresses stay.
    /// - Returns: how many idle connections were closed.
    @discardableResult public func localAddressesDidChange(to addresses: Set<String>) -> Int {
        network.change(to: addresses)
        guard !network.lost.isEmpty else { return 0 }
        let affected = connections.all.filter(lostItsAddress)
        network.keep { address in affected.contains { $0.endpoints?.localAddress == address } }
        var closed = 0
        for connection in affected {
            if connection.isIdle {
                end(connection)
                closed += 1
            } else {
                connection.isRetired = true
            }
        }
        watchLostAddresses()
        return closed
    }

    /// Tells over which families of addresses anything can leave the machine. Addresses of the other are not tried, unless the host has none that
    /// can be reached otherwise.
    public func usableFamiliesDidChange(to families: AddressFamilies) { network.use(families) }

    /// Has names resolved anew: the network, or who answers for names, is another one. Connections that stand are not touched.
    public func expireDNSCache() { network.expireDNSCache(at: loop.now) }

    private func lostItsAddress(_ connection: OriginConnection) -> Bool {
        guard let address = connection.endpoints?.localAddress else { return false }
        return network.lost.contains(address)
    }

    /// Looks again in a second while there is anything to look at.
    private func watchLostAddresses() {
        guard connections.all.contains(where: { lostItsAddress($0) && !$0.isIdle && !$0.isShutDown }) else { return }
        let timer = lostAddressTimer ?? Timer { [unowned self] in abortLostAddresses() }
        lostAddressTimer = timer
        if !timer.isArmed { loop.arm(timer, afterMilliseconds: CurlTransport.lostAddressMilliseconds) }
    }

    private func abortLostAddresses() {
        for connection in connections.all where lostItsAddress(connection) && !connection.isIdle {
            // Without interest nobody reads: its transfers are held up, and the silence is our own.
            guard !connection.interest.isEmpty, !connection.hasInput,
                connection.silenceMilliseconds >= CurlTransport.lostAddressMilliseconds
            else { continue }
            connection.abort()
        }
        watchLostAddresses()
    }
}

extension CurlTransfer {
    /// What is told of a transfer whose connection's own address has gone.
    var lostAddressError: TransportError {
        TransportError(
            .networkConnectionLost, "this machine's address of the connection has gone, and nothing came any more",
            isRetryable: request.method.isIdempotent)
    }

    /// Whether to leave out an address of a host: nothing can leave for its family, while it can for the other. Loopback is always there.
    func skipsFamily(family: AddressFamilies, isLoopback: Bool) -> Bool {
        guard !triesEveryFamily, !isLoopback, let only = transport.network.onlyFamily, family != only,
            !request.url.origin.isLiteral
        else { return false }
        hasSkippedFamily = true
        return true
    }

    /// Whether a transfer that has found no way shall look at the addresses too that it has left out.
    var canTryEveryFamily: Bool { hasSkippedFamily && !triesEveryFamily && failure == nil && sendCount == 0 }
}
