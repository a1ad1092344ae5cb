public import CarpoolHTTP
public import CarpoolSystem

/// Requests credentials at a token endpoint (RFC 6749): with the refresh token of the last one, the client credentials,
/// or a user and a password. The session's own transport sends the requests, without its interceptor.
public final class TokenEndpointRefresher: CredentialRefresher {
    /// The most bytes of a response.
    private static let maximumAnswerBytes = 65_536

    private let url: String
    private let client: Client
    private let fields: [HTTPField]
    private let timeoutMilliseconds: Int
    private let connection: TransferOptions?
    private let makeRequestID: () -> String
    private let wallClock: () -> Int64

    /// Makes a refresher.
    /// - Parameters:
    ///   - url: the token endpoint. Redirects are not followed: they would send the secrets to another place.
    ///   - client: who asks, and for what.
    ///   - fields: further fields, such as `Authorization` for endpoints that require the client secret there.
    ///   - timeoutMilliseconds: the longest time for the whole request.
    ///   - connection: has the trust, TLS, client certificate, addresses and proxies for the endpoint; `nil` for those
    ///     of the session.
    ///   - makeRequestID: returns an unused request id.
    ///   - wallClock: returns microseconds since 1970.
    public init(
        url: String, client: Client, fields: [HTTPField] = [], timeoutMilliseconds: Int = 30_000,
        connection: TransferOptions? = nil,
        makeRequestID: @escaping () -> String, wallClock: @escaping () -> Int64 = { WallClock.microseconds() }
    ) {
        self.url = url
        self.client = client
        self.fields = fields
        self.timeoutMilliseconds = timeoutMilliseconds
        self.connection = connection
        self.makeRequestID = makeRequestID
        self.wallClock = wallClock
    }

    /// Whether the grant needs no earlier credential.
    public var obtainsCredentials: Bool { client.grant != .refreshToken }

    /// Requests the first credential.
    public func obtain(
        for session: Session, completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void
    ) {
        request(after: nil, for: session, completion)
    }

    /// Requests a new credential: with the refresh token if the grant is that, otherwise as the first one.
    public func refresh(
        _ credential: OAuth2Credential, for session: Session,
        completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void
    ) {
        guard obtainsCredentials || credential.refreshToken != nil else {
            return completion(.failure(.refreshFailed("the credential has no refresh token")))
        }
        request(after: credential, for: session, completion)
    }

    private func request(
        after old: OAuth2Credential?, for session: Session,
        _ completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void
    ) {
        let request = session.request(parameters(after: old), id: makeRequestID())
        request.whenFinished { [self] request in
            let result = Result { () throws(SessionError) in try self.credential(from: request, after: old) }
            request.discardBody()
            completion(result)
        }
        request.resume()
    }

    private func parameters(after old: OAuth2Credential?) -> RequestParameters {
        var parameters = RequestParameters(method: .post, url: url)
        parameters.fields = fields
        if let authorization = client.authorization { parameters.fields.append(authorization) }
        for (name, value) in [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json")] {
            guard let field = try? HTTPField(name: name, value: value) else { continue }
            if !fields.contains(where: { $0.hasName(name) }) { parameters.fields.append(field) }
        }
        parameters.body = .bytes(client.form(refreshToken: old?.refreshToken))
        if let connection { parameters.options.setConnection(connection) }
        parameters.redirect = .doNotFollow
        parameters.isExemptFromInterceptor = true
        parameters.validators = []
        parameters.resourceTimeoutMilliseconds = timeoutMilliseconds
        // Its response has a limit of its own, not the one of the session's resources.
        parameters.maximumBodyBytes = .max
        parameters.memoryLimitBytes = TokenEndpointRefresher.maximumAnswerBytes
        return parameters
    }

    private func credential(
        from request: Request, after old: OAuth2Credential?
    ) throws(SessionError) -> OAuth2Credential {
        // The session's validators do not matter: the error is read from the response itself.
        if let error = request.error, !error.name.hasPrefix("response_validation_failed") {
            throw .refreshFailed(error)
        }
        guard let response = request.response, case .memory(let body) = request.body.storage else {
            throw .refreshFailed(
                "the token endpoint's response has more than \(TokenEndpointRefresher.maximumAnswerBytes) bytes")
        }
        var secrets = [old?.accessToken, old?.refreshToken].compactMap { $0 } + client.secrets
        secrets += fields.filter(\.carriesSecret).map(\.value)
        return try TokenResponse(status: response.status, body: body)
            .credential(after: old, now: wallClock(), secrets: secrets)
    }
}
