internal import CLookups
internal import CarpoolSystem

/// Transfers that have ended while libcurl looked up their hosts. The look-up goes on in a thread until the resolver answers or gives up, half a
/// minute later if the name server is silent; until then it keeps the transfer's place among the connections, so that look-ups have the same
/// limits, of each client and in sum.
struct AbandonedLookups {
    struct Lookup {
        let host: String
        let slot: AdmissionQueue<CurlTransfer>.Slot
        let turns: Int
        let pool: OriginPool
    }

    var all: [Lookup] = []
    /// Looks whether they have ended; made when first needed.
    var timer: Timer?
}

extension CurlTransport {
    /// How often to look whether look-ups have ended, in milliseconds.
    private static let lookupMilliseconds = 100

    /// Whether a transfer has got no further than to the look-up of its host.
    func isLookingUp(_ transfer: CurlTransfer) -> Bool {
        guard transfer.connection == nil, transfer.connectAttempts.isEmpty else { return false }
        return CLookups_count(transfer.request.url.origin.host) > 0
    }

    /// Keeps the place of a transfer that ends until its host's look-ups have ended.
    func keepSlot(of transfer: CurlTransfer, in pool: OriginPool) {
        guard let slot = transfer.slot else { return }
        let host = transfer.request.url.origin.host
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
