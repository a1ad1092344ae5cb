public import CarpoolHTTP
internal import CarpoolSystem

/// How a credential is used, and how its refusal is told from other failures (AI-01).
public protocol Authenticator: CredentialRefresher {
    /// Whether the credential should be replaced before anything more is sent with it.
    func requiresRefresh(_ credential: OAuth2Credential) -> Bool
    /// Whether the credential is of no use any more. One that is not is sent if a refresh before its end cannot be had.
    func isExpired(_ credential: OAuth2Credential) -> Bool
    /// Puts the credential into a request.
    func apply(_ credential: OAuth2Credential, to urlRequest: inout TransportRequest) throws(SessionError)
    /// Whether the request carries this very credential, and not an older one.
    func isRequest(_ urlRequest: TransportRequest, authenticatedWith credential: OAuth2Credential) -> Bool
    /// Whether the request failed because of its credential.
    func didRequest(
        _ urlRequest: TransportRequest, with response: ResponseHead,
        failDueToAuthenticationError error: SessionError
    ) -> Bool
}

extension Authenticator {
    /// By the machine's clock.
    public func isExpired(_ credential: OAuth2Credential) -> Bool {
        credential.expires.map { $0 <= WallClock.microseconds() } ?? false
    }
}
