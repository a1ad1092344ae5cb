public import CarpoolHTTP
public import CarpoolSystem

/// OAuth 2.0 with bearer tokens (RFC 6750): the access token goes into `Authorization`, and status 401 says that it is refused.
public final class OAuth2Authenticator: Authenticator {
    private let refresher: any CredentialRefresher
    private let refreshBeforeMilliseconds: Int
    private let wallClock: () -> Int64

    /// Makes an authenticator.
    /// - Parameters:
    ///   - refresher: Gets new credentials.
    ///   - refreshBeforeMilliseconds: A credential with less time left than that is replaced before it is used: 5 minutes (AI-14). It has to be
    ///     shorter than the tokens' life, else every request refreshes.
    ///   - wallClock: Gives microseconds since 1970.
    public init(
        refresher: any CredentialRefresher, refreshBeforeMilliseconds: Int = 300_000,
        wallClock: @escaping () -> Int64 = { WallClock.microseconds() }
    ) {
        self.refresher = refresher
        self.refreshBeforeMilliseconds = refreshBeforeMilliseconds
        self.wallClock = wallClock
    }

    /// Whether less time is left than wanted. A credential that does not say when it ends is good until it is refused.
    public func requiresRefresh(_ credential: OAuth2Credential) -> Bool {
        guard let expires = credential.expires else { return false }
        let (margin, isEndless) = Int64(refreshBeforeMilliseconds).multipliedReportingOverflow(by: 1_000)
        let (limit, overflow) = wallClock().addingReportingOverflow(margin)
        return isEndless || overflow || expires < limit
    }

    /// Replaces whatever `Authorization` there is.
    public func apply(_ credential: OAuth2Credential, to urlRequest: inout TransportRequest) throws(SessionError) {
        guard let field = SetHeaderAdapter.bearerField(credential.accessToken) else { throw .unusableCredential }
        SetHeaderAdapter(field).adaptAtOnce(&urlRequest)
    }

    /// Whether `Authorization` holds this access token.
    public func isRequest(_ urlRequest: TransportRequest, authenticatedWith credential: OAuth2Credential) -> Bool {
        urlRequest.fields.contains { $0.isNamed("authorization") && $0.value == "Bearer \(credential.accessToken)" }
    }

    /// Whether the status is 401.
    public func didRequest(
        _ urlRequest: TransportRequest, with response: ResponseHead,
        failDueToAuthenticationError error: SessionError
    ) -> Bool {
        response.status == 401
    }

    /// Has the refresher get a new credential.
    public func refresh(
        _ credential: OAuth2Credential, for session: Session,
        completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void
    ) {
        refresher.refresh(credential, for: session, completion: completion)
    }
}
