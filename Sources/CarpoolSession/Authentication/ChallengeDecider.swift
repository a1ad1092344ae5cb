/// Decides how a request answers the challenges of servers; it may answer later. An object, because every copy of a
/// request's parameters has a reference to it.
public final class ChallengeDecider {
    /// How a challenge is answered.
    public enum Disposition {
        /// With this credential.
        case useCredential(PasswordCredential)
        /// As without a decider: with the credential of the request or the session, if there is one.
        case performDefault
        /// Not: the response that asks is the final one.
        case reject
    }

    /// The request that is challenged.
    public struct Subject: Sendable {
        /// The name of its session.
        public let session: String
        /// Its id.
        public let request: String
        /// The number of its attempt.
        public let attempt: Int
    }

    private let decide:
        (Subject, AuthenticationChallenge, @escaping (Result<Disposition, SessionError>) -> Void) -> Void

    /// Makes a decider of a closure, which calls the completion once; a failure fails the request.
    public init(
        _ decide:
            @escaping (
                Subject, AuthenticationChallenge, @escaping (Result<Disposition, SessionError>) -> Void
            ) -> Void
    ) {
        self.decide = decide
    }

    /// The most questions in an attempt of a request: a client could answer every refusal with another guess.
    static let maximumQuestions = 5

    /// Asks how a challenge is answered.
    func decide(
        _ subject: Subject, about challenge: AuthenticationChallenge,
        completion: @escaping (Result<Disposition, SessionError>) -> Void
    ) {
        decide(subject, challenge, completion)
    }
}
