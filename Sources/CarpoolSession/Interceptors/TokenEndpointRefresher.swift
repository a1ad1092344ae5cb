public import CarpoolHTTP
public import CarpoolSystem

/// Refreshes a credential at a token endpoint with its refresh token (RFC 6749, section 6), by the session's own
/// transport and without its interceptor.
public final class TokenEndpointRefresher: CredentialRefresher {
    /// The most bytes of a response.
    private static let maximumAnswerBytes = 65_536

    private let url: String
    private let client: Client
    private let fields: [HTTPField]
    private let timeoutMilliseconds: Int
    private let makeRequestID: () -> String
    private let wallClock: () -> Int64

    /// The client credentials (RFC 6749, section 2.3.1).
    public struct Client: Sendable {
        /// The client identifier at the authorization server.
        public var identifier: String?
        /// The client secret.
        public var secret: String?
        /// The scope of the token; `nil` for the scope of the old one.
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
    ///   - url: the token endpoint. Redirects are not followed: they would send the secrets to another place.
    ///   - client: the client credentials.
    ///   - fields: further fields, such as `Authorization` for endpoints that require the client secret there.
    ///   - timeoutMilliseconds: the longest time for the whole request.
    ///   - makeRequestID: returns an unused request id.
    ///   - wallClock: returns microseconds since 1970.
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

    /// Sends the refresh request.
    public func refresh(
        _ credential: OAuth2Credential, for session: Session,
        completion: @escaping (Result<OAuth2Credential, SessionError>) -> Void
    ) {
        guard let refreshToken = credential.refreshToken else {
            return completion(.failure(.refreshFailed("the credential has no refresh token")))
        }
        let request = session.request(parameters(refreshToken), id: makeRequestID())
        request.whenFinished { [self] request in
            let result = Result { () throws(SessionError) in try self.credential(from: request, after: credential) }
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
        // Its response has a limit of its own, not the one of the session's resources.
        parameters.maximumBodyBytes = .max
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

    private func credential(from request: Request, after old: OAuth2Credential) throws(SessionError) -> OAuth2Credential
    {
        // The session's validators do not matter: the error is read from the response itself.
        if let error = request.error, !error.name.hasPrefix("response_validation_failed") {
            throw .refreshFailed(error)
        }
        guard let response = request.response, case .memory(let body) = request.body.storage else {
            throw .refreshFailed(
                "the token endpoint's response has more than \(TokenEndpointRefresher.maximumAnswerBytes) bytes")
        }
        let secrets = [old.accessToken, old.refreshToken, client.secret].compactMap { $0 }
        return try TokenResponse(status: response.status, body: body)
            .credential(after: old, now: wallClock(), secrets: secrets)
    }
}
