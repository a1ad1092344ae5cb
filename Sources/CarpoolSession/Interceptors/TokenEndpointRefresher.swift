public import CarpoolHTTP
public import CarpoolSystem

/// Gets a new credential from a token endpoint with the refresh token of the old one (RFC 6749, section 6), by the session's own transport, past
/// its interceptor.
public final class TokenEndpointRefresher: CredentialRefresher {
    /// The most bytes of an answer.
    private static let maximumAnswerBytes = 65_536

    private let url: String
    private let client: Client
    private let fields: [HTTPField]
    private let timeoutMilliseconds: Int
    private let makeRequestID: () -> String
    private let wallClock: () -> Int64

    /// Who asks (RFC 6749, section 2.3.1).
    public struct Client: Sendable {
        /// The client's name at the authorization server.
        public var identifier: String?
        /// Its password there.
        public var secret: String?
        /// What the token is to be good for; `nil` for what the old one was good for.
        public var scope: String?

        /// Makes a client.
        public init(identifier: String? = nil, secret: String? = nil, scope: String? = nil) {
            self.identifier = identifier
            self.secret = secret
            self.scope = scope
        }
    }

    /// Makes a refresher.
    /// - Parameters:
    ///   - url: The token endpoint. Redirects are not followed: they would take the secrets elsewhere.
    ///   - client: Who asks.
    ///   - fields: What is sent besides, such as `Authorization` for endpoints that want the client's password there.
    ///   - timeoutMilliseconds: The longest time for the whole request.
    ///   - makeRequestID: Gives a name that no other request has.
    ///   - wallClock: Gives microseconds since 1970.
    public init(
        url: String, client: Client, fields: [HTTPField] = [], timeoutMilliseconds: Int = 30_000,
        makeRequestID: @escaping () -> String, wallClock: @escaping () -> Int64 = { WallClock.microseconds() }
    ) {
        self.url = url
        self.client = client
        self.fields = fields
        self.timeoutMilliseconds = timeoutMilliseconds
        self.makeRequestID = makeRequestID
        self.wallClock = wallClock
    }

    /// Asks the endpoint.
    public func refresh(
        _ credential: OAuth2Credential, for session: Session,
        completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void
    ) {
        guard let refreshToken = credential.refreshToken else {
            return completion(.failure(.refreshFailed("the credential has no refresh token")))
        }
        let request = session.request(parameters(refreshToken), id: makeRequestID())
        request.whenFinished { [self] request in
            let result = Result { () throws(SessionError) in try judge(request, after: credential) }
            request.discardBody()
            completion(result)
        }
        request.resume()
    }

    private func parameters(_ refreshToken: String) -> RequestParameters {
        var parameters = RequestParameters(method: .post, url: url)
        parameters.fields = fields
        for (name, value) in [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json")] {
            guard let field = try? HTTPField(name: name, value: value) else { continue }
            if !fields.contains(where: { $0.hasName(name) }) { parameters.fields.append(field) }
        }
        parameters.body = .bytes(form(refreshToken))
        parameters.redirect = .doNotFollow
        parameters.isExemptFromInterceptor = true
        parameters.validators = []
        parameters.resourceTimeoutMilliseconds = timeoutMilliseconds
        parameters.memoryLimitBytes = TokenEndpointRefresher.maximumAnswerBytes
        return parameters
    }

    private func form(_ refreshToken: String) -> [UInt8] {
        let all: [(String, String?)] = [
            ("grant_type", "refresh_token"), ("refresh_token", refreshToken), ("client_id", client.identifier),
            ("client_secret", client.secret), ("scope", client.scope),
        ]
        let plain = AllowedCharacters.unreserved
        let pairs = all.compactMap { name, value in value.map { "\(name)=\(plain.percentEncode($0))" } }
        return Array(pairs.joined(separator: "&").utf8)
    }

    private func judge(_ request: Request, after old: OAuth2Credential) throws(SessionError) -> OAuth2Credential {
        // What a validator of the session says of the status does not matter: the answer says why.
        if let error = request.error, !error.name.hasPrefix("response_validation_failed") {
            throw .refreshFailed(error)
        }
        guard let response = request.response, case .memory(let body) = request.body.storage else {
            throw .refreshFailed(
                "the token endpoint's answer has more than \(TokenEndpointRefresher.maximumAnswerBytes) bytes")
        }
        let secrets = [old.accessToken, old.refreshToken, client.secret].compactMap { $0 }
        return try TokenResponse(status: response.status, body: body)
            .credential(after: old, now: wallClock(), secrets: secrets)
    }
}
