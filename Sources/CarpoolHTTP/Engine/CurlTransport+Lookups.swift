internal import CLookups
internal import CarpoolSystem

/// Look-ups whose transfers have ended.
extension CurlTransport {
    /// The interval between checks of the abandoned look-ups, in milliseconds.
    private static let lookupMilliseconds = 100

    /// Whether a transfer is still looking up its host.
    func isLookingUp(_ transfer: CurlTransfer) -> Bool {
        guard transfer.connection == nil, transfer.connectAttempts.isEmpty else { return false }
        return CLookups_count(transfer.request.lookedUpHost) > 0
    }

    /// Keeps the slot of a transfer that ends until its host's look-ups have ended.
    func keepSlot(of transfer: CurlTransfer, in pool: OriginPool) {
        guard let slot = transfer.slot else { return }
        let host = transfer.request.lookedUpHost
        lookups.all.append(.init(host: host, slot: slot, turns: transfer.turnsTaken, pool: pool))
        transfer.slot = nil
        let timer = lookups.timer ?? Timer { [unowned self] in endLookups() }
        lookups.timer = timer
        if !timer.isArmed { loop.arm(timer, afterMilliseconds: CurlTransport.lookupMilliseconds) }
    }

    private func endLookups() {
        lookups.all.removeAll { lookup in
            guard CLookups_count(lookup.host) == 0 else { return false }
            queue.finish(lookup.slot, turns: lookup.turns)
            if lookup.pool.connections.isEmpty { connections.emptyPools.append(lookup.pool) }
            return true
        }
        observeTurn()
        guard let timer = lookups.timer, !lookups.all.isEmpty else { return }
        loop.arm(timer, afterMilliseconds: CurlTransport.lookupMilliseconds)
    }
}

extension TransportRequest {
    /// The `errno` of the shortage for which the look-up of its host has failed; 0 if it has not.
    var lookupShortage: Int32 { CLookups_shortage(lookedUpHost) }

    /// The host whose addresses libcurl looks up.
    fileprivate var lookedUpHost: String {
        firstProxyHost ?? partition.addresses?.replacement(of: url.origin)?.targetHost ?? url.origin.host
    }
}
