internal import CarpoolSystem

extension Connection {
    /// Determined in each turn, since the process may have entered a sandbox. It may also have ended: then the
    /// connection loses its access to paths, since another process may have the socket now.
    var pathAccess: PathAccess {
        if let known = cachedPathAccess.access, known.turn == services.loop.turns { return known.value }
        guard !isClosed else { return .otherView(.unknown) }
        let access = services.viewComparison.pathAccess(
            fd, profile.credentials, connectedBefore: cachedPathAccess.accepted)
        cachedPathAccess.access = (access, services.loop.turns)
        return access
    }

    var sandboxDifference: ProcessView.Part? {
        isClosed
            ? .unknown
            : services.viewComparison.sandboxDifference(
                fd, profile.credentials, connectedBefore: cachedPathAccess.accepted)
    }
}
