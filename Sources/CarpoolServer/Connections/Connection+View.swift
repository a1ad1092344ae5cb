internal import CarpoolSystem

extension Connection {
    /// Determined in each turn, since the process may have entered a sandbox. It may also have ended: then the
    /// connection loses its access to paths, since another process may have the socket now.
    var pathAccess: PathAccess {
        if let known = judgement.access, known.turn == services.loop.turns { return known.verdict }
        guard !isClosed else { return .otherView(.unknown) }
        let verdict = services.viewJudge.pathAccess(fd, profile.credentials, connectedBefore: judgement.accepted)
        judgement.access = (verdict, services.loop.turns)
        return verdict
    }

    var enclosure: ProcessView.Part? {
        isClosed ? .unknown : services.viewJudge.enclosure(fd, profile.credentials, connectedBefore: judgement.accepted)
    }
}
