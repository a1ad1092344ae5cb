internal import CarpoolHTTP

/// Limits the answers to a server that repeats its challenge: at each URL by server and realm, and in all.
struct ChallengeDialogue {
    private struct Space {
        let server: ChallengingServer
        let origin: Origin
        let realm: String
        var answers = 0
        var staleAnswers = 0
    }

    private var spaces: [Space] = []

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

    /// Counts the answer to a challenge. Returns `false` if there is none: the response that asks is the final one.
    /// - Parameter isChosen: whether a decider has chosen the credential: it is asked only so often.
    /// - Parameter answered: the challenges that the task has answered so far.
    /// - Throws: if these are ``maximum``.
    mutating func answers(
        _ server: ChallengingServer, at origin: Origin, realm: String, isStale: Bool, isChosen: Bool, answered: Int
    ) throws(SessionError) -> Bool {
        let index = space(server, origin, realm) ?? spaces.count
        if index == spaces.count { spaces.append(Space(server: server, origin: origin, realm: realm)) }
        if isStale {
            guard answersStale(of: server, at: origin, realm: realm) else { return false }
            spaces[index].staleAnswers += 1
        } else if !isChosen {
            guard spaces[index].answers < ChallengeDialogue.maximumAnswers else { return false }
            spaces[index].answers += 1
        }
        guard answered < ChallengeDialogue.maximum else { throw .tooManyChallenges(ChallengeDialogue.maximum, origin) }
        return true
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
            hint: tooManyHopsHint,
            details: [Detail("limit", .integer(limit))])
    }
}
