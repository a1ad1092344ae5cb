internal import COverrides
internal import CarpoolSystem

/// Look-ups of hosts' names.
extension CurlTransport {
    /// The interval between checks whether look-ups have ended, while transfers wait for one, in milliseconds.
    private static let lookupMilliseconds = 20
    /// How long a thread may take to begin a look-up, in milliseconds.
    private static let lookupStartMilliseconds = 100

    /// Whether a transfer may start as far as the look-up of its host is concerned; if not, it has left the queue, and
    /// is queued again when its process may begin another look-up.
    func mayLookUp(_ transfer: CurlTransfer, in pool: OriginPool) -> Bool {
        // With a connection the address is known.
        guard pool.connections.isEmpty, transfer.request.needsLookup else { return true }
        let owner = transfer.request.lookupOwner
        transfer.isCountedAsLookup = lookups.begin(transfer, for: owner)
        if !transfer.isCountedAsLookup, sweptTurn != loop.turns {
            sweepLookups()
            transfer.isCountedAsLookup = lookups.begin(transfer, for: owner)
        }
        if transfer.isCountedAsLookup { return true }
        if transfer.lookupPlace == nil { transfer.lookupPlace = lookups.wait(transfer, for: owner) }
        awaitLookups()
        return false
    }

    /// A transfer that was admitted ends, or starts again.
    /// - Parameter isOver: whether it is known that its look-up has ended.
    func endLookup(of transfer: CurlTransfer, isOver: Bool = false) {
        guard transfer.isCountedAsLookup else { return }
        transfer.isCountedAsLookup = false
        let lookup = LookupTable<CurlTransfer>.Abandoned(name: transfer.request.lookedUpHost, time: loop.now)
        lookups.end(
            transfer, for: transfer.request.lookupOwner,
            abandoning: !isOver && mayBeLookingUp(transfer) ? lookup : nil)
    }

    /// A transfer waits no longer for a look-up.
    func leaveLookups(_ transfer: CurlTransfer) {
        if let place = transfer.lookupPlace { lookups.withdraw(place) }
        transfer.lookupPlace = nil
    }

    /// Whether a transfer is still looking up its host.
    func isLookingUp(_ transfer: CurlTransfer) -> Bool {
        transfer.hasNoSocket && COverrides_lookups(transfer.request.lookedUpHost) > 0
    }

    /// Whether a transfer is still looking up its host, or a thread is about to.
    private func mayBeLookingUp(_ transfer: CurlTransfer) -> Bool {
        guard transfer.hasNoSocket else { return false }
        return transfer.deadlines.admission.map(isRecent) ?? false || isLookingUp(transfer)
    }

    private func isRecent(_ time: MonotonicTime) -> Bool {
        time.advanced(milliseconds: CurlTransport.lookupStartMilliseconds) > loop.now
    }

    private func awaitLookups() {
        let timer = lookupTimer ?? Timer { [unowned self] in checkLookups() }
        lookupTimer = timer
        if !timer.isArmed { loop.arm(timer, afterMilliseconds: CurlTransport.lookupMilliseconds) }
    }

    private func checkLookups() {
        sweepLookups()
        for transfer in lookups.takeReady() {
            transfer.lookupPlace = nil
            requeue(transfer)
        }
        if lookups.waiting > 0 { awaitLookups() }
    }

    private func sweepLookups() {
        sweptTurn = loop.turns
        lookups.sweep {
            mayBeLookingUp($0)
        } isLookedUp: {
            isRecent($0.time) || COverrides_lookups($0.name) > 0
        }
    }
}

extension CurlTransfer {
    /// Whether no socket was opened for it yet.
    fileprivate var hasNoSocket: Bool { connection == nil && connectAttempts.isEmpty }
}

extension TransportRequest {
    /// The `errno` of the shortage for which the look-up of its host has failed; 0 if it has not.
    var lookupShortage: Int32 { COverrides_lookup_shortage(lookedUpHost) }

    /// The host whose addresses libcurl looks up.
    fileprivate var lookedUpHost: String {
        firstProxyHost ?? partition.addresses?.replacement(of: url.origin)?.targetHost ?? url.origin.host
    }

    /// Whether libcurl asks the resolver for its host: it knows addresses and `localhost` itself.
    fileprivate var needsLookup: Bool {
        guard partition.addresses?.socket == nil else { return false }
        let host = lookedUpHost
        return !Origin.isLiteral(host) && host != "localhost" && !host.hasSuffix(".localhost")
    }

    fileprivate var lookupOwner: LookupTable<CurlTransfer>.Owner { .init(user: share.user, process: process) }
}
