internal import CarpoolSystem

/// Handles changes of the machine's network: lost addresses, usable families, name servers.
extension CurlTransport {
    /// Maximum time without input on a connection that lost its local address, in milliseconds: addresses that are
    /// renewed come back sooner.
    private static let lostAddressMilliseconds = 1_000

    /// Updates the local addresses of the machine: all of them, as inet_ntop(3) writes them, whenever they may have
    /// changed.
    ///
    /// The kernel keeps connections from a lost address without an error, so that their transfers would wait for
    /// nothing. Idle ones are closed at once, and those in use serve no other transfer; if nothing arrives over them
    /// for a second and the address has not come back, their transfers fail with
    /// ``TransportError/Code/networkConnectionLost``. Connections from other addresses stay.
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

    /// Sets the address families that can reach other machines. Addresses of another family are not tried, unless the
    /// host has no others or they fail.
    public func usableFamiliesDidChange(to families: AddressFamilies) { network.use(families) }

    /// Expires the cached addresses of names, after a change of network or of name servers. Existing connections are
    /// kept.
    public func expireDNSCache() { network.expireDNSCache(at: loop.now) }

    private func lostItsAddress(_ connection: OriginConnection) -> Bool {
        guard let address = connection.endpoints?.localAddress else { return false }
        return network.lost.contains(address)
    }

    /// Checks again in a second while any connection is affected.
    private func watchLostAddresses() {
        guard connections.all.contains(where: { lostItsAddress($0) && !$0.isIdle && !$0.isShutDown }) else { return }
        let timer = lostAddressTimer ?? Timer { [unowned self] in abortLostAddresses() }
        lostAddressTimer = timer
        if !timer.isArmed { loop.arm(timer, afterMilliseconds: CurlTransport.lostAddressMilliseconds) }
    }

    private func abortLostAddresses() {
        for connection in connections.all where lostItsAddress(connection) && !connection.isIdle {
            // Without interest nothing is read: its transfers are paused, and the silence is our own.
            guard !connection.interest.isEmpty, !connection.hasInput,
                connection.silenceMilliseconds >= CurlTransport.lostAddressMilliseconds
            else { continue }
            connection.abort()
        }
        watchLostAddresses()
    }
}

extension CurlTransfer {
    /// The error of a transfer whose connection lost its local address.
    var lostAddressError: TransportError {
        TransportError(
            .networkConnectionLost, "the local address of the connection was removed, and no byte arrived after that",
            isRetryable: request.method.isIdempotent)
    }

    /// Whether to skip an address of a host: its family is not usable, and the other one is. Loopback always is.
    func skipsFamily(family: AddressFamilies, isLoopback: Bool) -> Bool {
        guard !triesEveryFamily, !isLoopback, let only = transport.network.onlyFamily, family != only,
            !Origin.isLiteral(request.firstProxyHost ?? request.url.origin.host)
        else { return false }
        hasSkippedFamily = true
        return true
    }

    /// Whether a transfer that could not connect tries the skipped addresses too.
    var canTryEveryFamily: Bool { hasSkippedFamily && !triesEveryFamily && failure == nil && sendCount == 0 }
}
