/// Gets a new credential for an old one (AI-01): asks a token endpoint, a client, or a program's closure.
public protocol CredentialRefresher: AnyObject {
    /// Gives the new credential. Answers once, now or later, on the session's loop. What it sends itself must not go through the interceptor that
    /// waits for it.
    func refresh(
        _ credential: OAuth2Credential, for session: Session,
        completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void)
}

/// The credential of an OAuth 2.0 client (RFC 6749, section 1.4 and 1.5; RFC 6750).
public struct OAuth2Credential: Equatable, Sendable {
    /// What is sent as `Authorization: Bearer`.
    public var accessToken: String
    /// What a new access token is got with, if the server gives one.
    public var refreshToken: String?
    /// When the access token ends, in microseconds since 1970; `nil` if it is not known.
    public var expires: Int64?
    /// When a refresh brought it, in microseconds since 1970; `nil` for one that was set, whose age is not known.
    public internal(set) var issued: Int64?

    /// Makes a credential.
    public init(accessToken: String, refreshToken: String? = nil, expires: Int64? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expires = expires
    }
}
