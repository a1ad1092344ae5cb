public import CarpoolHTTP
internal import CarpoolSystem

/// Applies a credential to requests, and recognizes its rejection among other failures (AI-01).
public protocol Authenticator: CredentialRefresher {
    /// Whether the credential should be refreshed before anything more is sent with it.
    func requiresRefresh(_ credential: OAuth2Credential) -> Bool
    /// Whether the credential has expired. One that has not is sent if an early refresh fails.
    func isExpired(_ credential: OAuth2Credential) -> Bool
    /// Applies the credential to a request.
    func apply(_ credential: OAuth2Credential, to urlRequest: inout TransportRequest) throws(SessionError)
    /// Whether the request carries this credential, and not an older one.
    func isRequest(_ urlRequest: TransportRequest, authenticatedWith credential: OAuth2Credential) -> Bool
    /// Whether the request failed because of its credential.
    func didRequest(
        _ urlRequest: TransportRequest, with response: ResponseHead,
        failDueToAuthenticationError error: SessionError
    ) -> Bool
}

extension Authenticator {
    /// Compares the expiry with the wall clock.
    public func isExpired(_ credential: OAuth2Credential) -> Bool {
        credential.expires.map { $0 <= WallClock.microseconds() } ?? false
    }
}
