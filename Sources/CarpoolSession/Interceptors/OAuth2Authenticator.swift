public import CarpoolHTTP
public import CarpoolSystem

/// OAuth 2.0 with bearer tokens (RFC 6750): the access token is sent in `Authorization`, and status 401 means that it
/// was rejected.
public final class OAuth2Authenticator: Authenticator {
    private let refresher: any CredentialRefresher
    private let refreshBeforeMilliseconds: Int
    private let wallClock: () -> Int64

    /// Makes an authenticator.
    /// - Parameters:
    ///   - refresher: refreshes credentials.
    ///   - refreshBeforeMilliseconds: a credential with less time left is refreshed before it is used: 5 minutes
    ///     (AI-14), but at most a
    ///     tenth of the life of a token that a refresh brought, so that short-lived tokens are used too.
    ///   - wallClock: returns microseconds since 1970.
    public init(
        refresher: any CredentialRefresher, refreshBeforeMilliseconds: Int = 300_000,
        wallClock: @escaping () -> Int64 = { WallClock.microseconds() }
    ) {
        self.refresher = refresher
        self.refreshBeforeMilliseconds = refreshBeforeMilliseconds
        self.wallClock = wallClock
    }

    /// Whether less than the configured time is left. A credential without an expiry is valid until it is rejected.
    public func requiresRefresh(_ credential: OAuth2Credential) -> Bool {
        guard let expires = credential.expires else { return false }
        var (margin, isEndless) = Int64(refreshBeforeMilliseconds).multipliedReportingOverflow(by: 1_000)
        if let issued = credential.issued {
            let tenth = max(0, expires &- issued) / OAuth2Authenticator.partsOfLife
            (margin, isEndless) = (isEndless ? tenth : min(margin, tenth), false)
        }
        let (limit, overflow) = wallClock().addingReportingOverflow(margin)
        return isEndless || overflow || expires < limit
    }

    /// A token is refreshed at the earliest in the last of so many parts of its lifetime.
    private static let partsOfLife: Int64 = 10

    /// Whether the credential has an expiry, and it has passed.
    public func isExpired(_ credential: OAuth2Credential) -> Bool {
        credential.expires.map { $0 <= wallClock() } ?? false
    }

    /// Sets `Authorization`, replacing an existing one.
    public func apply(_ credential: OAuth2Credential, to urlRequest: inout TransportRequest) throws(SessionError) {
        guard let field = SetHeaderAdapter.bearerField(credential.accessToken) else { throw .unusableCredential }
        SetHeaderAdapter(field).adaptSynchronously(&urlRequest)
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

    /// Refreshes the credential with the refresher.
    public func refresh(
        _ credential: OAuth2Credential, for session: Session,
        completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void
    ) {
        refresher.refresh(credential, for: session, completion: dating(completion))
    }

    /// Whether the refresher returns the first credential too.
    public var obtainsCredentials: Bool { refresher.obtainsCredentials }

    /// Requests the first credential from the refresher.
    public func obtain(
        for session: Session, completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void
    ) {
        refresher.obtain(for: session, completion: dating(completion))
    }

    /// Notes when a credential was issued.
    private func dating(
        _ completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void
    ) -> (Result<OAuth2Credential, SessionError>) -> Void {
        { [wallClock] result in
            completion(
                result.map { credential in
                    var credential = credential
                    credential.issued = wallClock()
                    return credential
                })
        }
    }
}
