/// Refreshes a credential (AI-01): by a token endpoint, a client, or a program's closure.
public protocol CredentialRefresher: AnyObject {
    /// Returns the new credential. Answers once, now or later, on the session's loop. The refresher's own requests must
    /// not pass through the interceptor that waits for it.
    func refresh(
        _ credential: OAuth2Credential, for session: Session,
        completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void)
}

/// The credential of an OAuth 2.0 client (RFC 6749, section 1.4 and 1.5; RFC 6750).
public struct OAuth2Credential: Equatable, Sendable {
    /// The access token, sent as `Authorization: Bearer`.
    public var accessToken: String
    /// The refresh token, if the server issued one.
    public var refreshToken: String?
    /// When the access token expires, in microseconds since 1970; `nil` if it is not known.
    public var expires: Int64?
    /// When a refresh returned it, in microseconds since 1970; `nil` for one that was set, whose age is not known.
    public internal(set) var issued: Int64?

    /// Makes a credential.
    public init(accessToken: String, refreshToken: String? = nil, expires: Int64? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expires = expires
    }
}
