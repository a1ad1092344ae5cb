internal import CarpoolSystem

extension Connection {
    /// Asked anew in each turn, since the process may have gone into a sandbox since. It may also have ended: then the connection has lost what
    /// it could do with paths, whoever has the socket now.
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
