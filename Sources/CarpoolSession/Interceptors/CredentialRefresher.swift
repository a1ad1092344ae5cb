/// Refreshes a credential (AI-01): by a token endpoint, a client, or a program's closure.
public protocol CredentialRefresher: AnyObject {
    /// Returns the new credential. Answers once, now or later, on the session's loop. The refresher's own requests must
    /// not pass through the interceptor that waits for it.
    func refresh(
        _ credential: OAuth2Credential, for session: Session,
        completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void)

    /// Whether the refresher needs no earlier credential: then ``obtain(for:completion:)`` returns the first one. The
    /// default is `false`.
    var obtainsCredentials: Bool { get }
    /// Returns the first credential, under the same rules.
    func obtain(for session: Session, completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void)
}

extension CredentialRefresher {
    /// The default: a first credential has to be set.
    public var obtainsCredentials: Bool { false }
    /// Fails.
    public func obtain(for session: Session, completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void) {
        completion(.failure(.missingCredential))
    }
}
