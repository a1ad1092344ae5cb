internal import CarpoolHTTP

extension TokenEndpointRefresher {
    /// Who asks the token endpoint, and for what.
    public struct Client: Hashable, Sendable {
        /// What a token is requested with (RFC 6749, section 1.3).
        public enum Grant: Hashable, Sendable {
            /// The refresh token of the last credential (section 6).
            case refreshToken
            /// The client credentials alone (section 4.4).
            case clientCredentials
            /// A user and a password (section 4.3).
            case password(username: String, password: String)
        }

        /// Where the client credentials are sent (RFC 6749, section 2.3.1).
        public enum Authentication: String, Sendable {
            /// In `Authorization`, with the Basic scheme.
            case basic
            /// In the form.
            case body
        }

        /// A further parameter of the form, such as `audience` or `resource`.
        public struct Parameter: Hashable, Sendable {
            /// The name.
            public let name: String
            /// The value.
            public let value: String

            /// Makes a parameter.
            public init(_ name: String, _ value: String) {
                self.name = name
                self.value = value
            }
        }

        /// The client identifier at the authorization server.
        public var identifier: String?
        /// The client secret.
        public var secret: String?
        /// The scope of the token; `nil` for the server's default, or the scope of the old one.
        public var scope: String?
        /// What a token is requested with.
        public var grant: Grant
        /// Where identifier and secret are sent.
        public var authentication: Authentication
        /// The further parameters of the form, in order.
        public var parameters: [Parameter]

        /// Makes a client.
        public init(
            identifier: String? = nil, secret: String? = nil, scope: String? = nil, grant: Grant = .refreshToken,
            authentication: Authentication = .body, parameters: [Parameter] = []
        ) {
            self.identifier = identifier
            self.secret = secret
            self.scope = scope
            self.grant = grant
            self.authentication = authentication
            self.parameters = parameters
        }
    }
}

extension TokenEndpointRefresher.Client {
    /// The client credentials for `Authorization`; `nil` if they are in the form, as those of a client without a secret
    /// always are. Both are percent-encoded before they are joined: then a form decoder and a decoder of
    /// percent-encoding read the same.
    private var basicToken: String? {
        guard authentication == .basic, let identifier, let secret else { return nil }
        let plain = AllowedCharacters.unreserved
        return BasicCredential.token(user: plain.percentEncode(identifier), password: plain.percentEncode(secret))
    }

    /// The field with the client credentials, if they are not in the form.
    var authorization: HTTPField? {
        basicToken.flatMap { try? HTTPField(name: "Authorization", value: "Basic \($0)") }
    }

    /// The body of a token request.
    /// - Parameter refreshToken: that of the credential, for ``Grant/refreshToken``.
    func form(refreshToken: String?) -> [UInt8] {
        var pairs: [(String, String?)]
        switch grant {
        case .refreshToken: pairs = [("grant_type", "refresh_token"), ("refresh_token", refreshToken)]
        case .clientCredentials: pairs = [("grant_type", "client_credentials")]
        case .password(let username, let password):
            pairs = [("grant_type", "password"), ("username", username), ("password", password)]
        }
        if basicToken == nil { pairs += [("client_id", identifier), ("client_secret", secret)] }
        pairs.append(("scope", scope))
        pairs += parameters.map { ($0.name, $0.value) }
        let plain = AllowedCharacters.unreserved
        let encoded = pairs.compactMap { name, value in
            value.map { "\(plain.percentEncode(name))=\(plain.percentEncode($0))" }
        }
        return Array(encoded.joined(separator: "&").utf8)
    }

    /// Texts that must not appear in an error, even if the endpoint returns them: as they are, and as they are sent.
    var secrets: [String] {
        var secrets = parameters.filter { SecretNames.contains($0.name) }.map(\.value)
        if let secret { secrets.append(secret) }
        if case .password(_, let password) = grant { secrets.append(password) }
        secrets += secrets.map { AllowedCharacters.unreserved.percentEncode($0) }
        if let basicToken { secrets.append(basicToken) }
        return secrets
    }
}
