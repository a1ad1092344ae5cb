internal import CarpoolSystem

/// What is known of a peer's view of the machine.
struct ViewJudgement {
    /// When the connection was accepted, by the clock of processes' beginnings.
    let accepted = MonotonicTime.uptime()
    /// The last verdict, and in which turn of the loop it was found.
    fileprivate var access: (verdict: PathAccess, turn: Int)?
}

extension Connection {
    /// Asked anew in each turn, since the process may have gone into a sandbox since. It may also have ended: then the connection has lost what
    /// it could do with paths, whoever has the socket now.
    var pathAccess: PathAccess {
        if let known = judgement.access, known.turn == server.loop.turns { return known.verdict }
        guard !isClosed else { return .otherView(.unknown) }
        let verdict = server.viewJudge.pathAccess(fd, profile.credentials, connectedBefore: judgement.accepted)
        judgement.access = (verdict, server.loop.turns)
        return verdict
    }

    var enclosure: ProcessView.Part? {
        isClosed ? .unknown : server.viewJudge.enclosure(fd, profile.credentials, connectedBefore: judgement.accepted)
    }
}
