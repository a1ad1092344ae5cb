internal import CarpoolHTTP

/// How a task has authenticated so far, at the origin and at a proxy that gets its requests as they are.
///
/// An object, because few requests have one and all would carry its size.
final class RequestAuthentication {
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

        /// The realm; empty for Basic that is sent without a challenge.
        var realm: String {
            switch self {
            case .basic(_, let realm): realm
            case .digest(let session): session.realm
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
        /// What the next hop sends, and the server that it is for.
        var pending: (sent: Sent, server: Origin)?
        /// The credential that a decider has chosen, and the server that it is for.
        var chosen: (credential: PasswordCredential, server: Origin)?
        /// How often a credential was refused.
        var failures = 0
    }

    private var origin = Progress()
    private var proxy = Progress()
    /// The schemes that the last server has offered, if the credential can use none of them; otherwise empty.
    var unusedOffers: [String] = []
    /// How often the decider was asked.
    var questions = 0
    /// The request whose body the present hop lacks, because no challenge was answered yet; `nil` for none.
    var withheld: TransportRequest?
    /// Whether a server has accepted the request without its body, and without a challenge: then the body is sent.
    var isBodyDue = false
    /// The challenges that were answered.
    var dialogue = ChallengeDialogue()

    /// Repeats the answer to `server` in the next hop: the other server has asked, and `server` has accepted the answer
    /// or has not seen it.
    func keepAnswer(at server: ChallengingServer, _ sent: TransportRequest) {
        guard self[server].sent.answer != nil, let origin = server.origin(for: sent) else { return }
        self[server].pending = (self[server].sent, origin)
    }

    /// Whether a challenge says that only the nonce of the answer was too old.
    func isStale(_ challenge: ChallengeCandidate, at server: ChallengingServer) -> Bool {
        guard case .digest = self[server].sent.answer else { return false }
        return challenge.digest?.isStale == true
    }

    /// How the task has authenticated at a server.
    subscript(server: ChallengingServer) -> Progress {
        get { server == .origin ? origin : proxy }
        set { if server == .origin { origin = newValue } else { proxy = newValue } }
    }
}
