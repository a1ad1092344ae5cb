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
