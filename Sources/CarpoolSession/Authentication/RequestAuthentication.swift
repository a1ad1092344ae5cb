/// How a task has authenticated so far, at the origin and at a proxy that gets its requests as they are.
struct RequestAuthentication {
    /// What authenticates a hop.
    enum Answer {
        case basic(PasswordCredential, realm: String)
        case digest(DigestSession)

        var credential: PasswordCredential {
            switch self {
            case .basic(let credential, _): credential
            case .digest(let session): session.credential
            }
        }
    }

    /// What the present hop has sent.
    enum Sent {
        case nothing
        /// Without a challenge of this task.
        case unasked(Answer)
        /// The answer to a challenge of this task.
        case answer(Answer)

        var answer: Answer? {
            switch self {
            case .nothing: nil
            case .unasked(let answer), .answer(let answer): answer
            }
        }
    }

    /// How it has authenticated at one server.
    struct Progress {
        var sent = Sent.nothing
        /// The answer that the next hop sends.
        var pending: Answer?
        /// How often a credential was refused.
        var failures = 0
        /// How often a nonce was too old.
        var staleAnswers = 0
    }

    var origin = Progress()
    var proxy = Progress()
    /// The hops that were challenged, which are no redirects.
    var challengedHops = 0

    /// The most answers with a new nonce in a task: a server whose nonces are always too old would never end.
    static let maximumStaleAnswers = 3
}
