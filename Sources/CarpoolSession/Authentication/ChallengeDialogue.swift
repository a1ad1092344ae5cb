internal import CarpoolHTTP

/// Counts the challenges that a task has answered, at each URL by server and realm, so that a server that asks again
/// and again gets no answer again and again.
struct ChallengeDialogue {
    /// What is done about a challenge.
    enum Verdict {
        case answer
        /// The response that asks is the final one.
        case deliver
    }

    private struct Space {
        let server: ChallengingServer
        let origin: Origin
        let realm: String
        var answers = 0
        var staleAnswers = 0
    }

    private var spaces: [Space] = []
    private var count = 0

    /// The most answers at a URL to a server for a realm, beside ``maximumStaleAnswers``.
    static let maximumAnswers = 2
    /// The most answers at a URL to a server for a realm because a nonce was too old.
    static let maximumStaleAnswers = 1
    /// The most answers of a task to all servers.
    static let maximum = 16

    /// Whether a nonce that is too old would be answered once more.
    func answersStale(of server: ChallengingServer, at origin: Origin, realm: String) -> Bool {
        space(server, origin, realm).map { spaces[$0].staleAnswers < ChallengeDialogue.maximumStaleAnswers } ?? true
    }

    /// Counts the answer to a challenge, if it may be answered.
    /// - Parameter isChosen: whether a decider has chosen the credential: it is asked only so often.
    /// - Throws: if the task has answered ``maximum`` challenges.
    mutating func answer(
        _ server: ChallengingServer, at origin: Origin, realm: String, isStale: Bool, isChosen: Bool
    ) throws(SessionError) -> Verdict {
        guard count < ChallengeDialogue.maximum else { throw .tooManyChallenges(ChallengeDialogue.maximum, origin) }
        let index = space(server, origin, realm) ?? spaces.count
        if index == spaces.count { spaces.append(Space(server: server, origin: origin, realm: realm)) }
        if isStale {
            guard answersStale(of: server, at: origin, realm: realm) else { return .deliver }
            spaces[index].staleAnswers += 1
        } else if !isChosen {
            guard spaces[index].answers < ChallengeDialogue.maximumAnswers else { return .deliver }
            spaces[index].answers += 1
        }
        count += 1
        return .answer
    }

    /// A redirect follows: each URL may ask for itself, within ``maximum``.
    mutating func redirected() { spaces = [] }

    private func space(_ server: ChallengingServer, _ origin: Origin, _ realm: String) -> Int? {
        spaces.firstIndex { $0.server == server && $0.origin == origin && $0.realm == realm }
    }
}

extension SessionError {
    /// Servers have asked for more credentials within one task than are answered.
    static func tooManyChallenges(_ limit: Int, _ origin: Origin) -> SessionError {
        SessionError(
            "session_task_failed.too_many_challenges",
            "\(origin) asks for a credential again after \(limit) challenges were answered, which is the maximum",
            hint:
                "the hops of the record show which server asks each time: check the credential for it (credential, credentials, proxy)",
            details: [Detail("limit", .integer(limit))])
    }
}
