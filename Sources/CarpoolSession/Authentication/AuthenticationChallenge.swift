internal import CarpoolHTTP

/// An authentication challenge: a server asks for credentials, or presents its certificate (EM-02).
public struct AuthenticationChallenge: Equatable, Sendable {
    /// The authentication method of the challenge.
    public enum Method: String, Sendable {
        /// A certificate, on a new connection.
        case serverTrust = "ServerTrust"
        /// User name and password (RFC 7617).
        case basic = "HTTPBasic"
        /// A digest of user name and password (RFC 7616).
        case digest = "HTTPDigest"
        /// NTLM, of Windows.
        case ntlm = "HTTPNTLM"
        /// Kerberos (RFC 4559).
        case negotiate = "HTTPNegotiate"
    }

    /// The authentication method.
    public let method: Method
    /// The host name of the server.
    public let host: String
    /// The port of the server.
    public let port: Int
    /// The realm, as the server names it; `nil` if it has no name.
    public let realm: String?
    /// How often a credential was refused: 1 if the request has sent one.
    public let previousFailureCount: Int
    /// Whether a proxy asks, and not the origin.
    public let isOfProxy: Bool

    /// The challenge for the certificate of a server.
    init(serverTrustOf request: TransportRequest) {
        let origin = request.url.origin
        isOfProxy = false
        (method, host, port, realm, previousFailureCount) = (.serverTrust, origin.host, Int(origin.port), nil, 0)
    }

    /// The first known challenge of a response; `nil` if there is none.
    init?(_ head: ResponseHead, to request: TransportRequest) {
        guard head.status == 401 else { return nil }
        for challenge in ChallengeList.parse(head.fields.allBytes("www-authenticate")) {
            guard let method = Method(challenge.scheme) else { continue }
            let hasOwn = request.fields.contains { $0.hasName("authorization") }
            self.init(method, challenge, of: request.url.origin, previousFailureCount: hasOwn ? 1 : 0)
            return
        }
        return nil
    }

    /// A challenge of a response (RFC 9110, section 11.6.1).
    init(
        _ method: Method, _ challenge: ChallengeList.Challenge, of origin: Origin, previousFailureCount: Int,
        isOfProxy: Bool = false
    ) {
        self.isOfProxy = isOfProxy
        self.method = method
        self.previousFailureCount = previousFailureCount
        host = origin.host
        port = Int(origin.port)
        realm = challenge.parameters.first { $0.name == "realm" }?.value
    }
}

extension AuthenticationChallenge.Method {
    /// The method of an authentication scheme, in upper or lower case.
    init?(_ scheme: String) {
        switch scheme {
        case "basic": self = .basic
        case "digest": self = .digest
        case "ntlm": self = .ntlm
        case "negotiate": self = .negotiate
        default: return nil
        }
    }
}
