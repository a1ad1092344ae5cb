internal import CarpoolHTTP

/// What a server wants to know of who sends a request, or what it shows of itself (EM-02).
public struct AuthenticationChallenge: Equatable, Sendable {
    /// What it is about.
    public enum Method: String, Sendable {
        /// A certificate, on a new connection.
        case serverTrust = "ServerTrust"
        /// Name and password (RFC 7617).
        case basic = "HTTPBasic"
        /// A digest of them (RFC 7616).
        case digest = "HTTPDigest"
        /// Windows' own.
        case ntlm = "HTTPNTLM"
        /// Kerberos (RFC 4559).
        case negotiate = "HTTPNegotiate"
    }

    /// What it is about.
    public let method: Method
    /// The server's name.
    public let host: String
    /// The server's port.
    public let port: Int
    /// What the server calls the place that it guards; `nil` if it has no name.
    public let realm: String?
    /// How often a credential was refused: 1 if the request has sent one.
    public let previousFailureCount: Int

    /// The certificate of a server.
    init(serverTrustOf request: TransportRequest) {
        let origin = request.url.origin
        (method, host, port, realm, previousFailureCount) = (.serverTrust, origin.host, Int(origin.port), nil, 0)
    }

    /// What a response asks for (RFC 9110, section 11.6.1), in the first of its challenges that is known; `nil` if there is none.
    init?(_ head: ResponseHead, to request: TransportRequest) {
        guard head.status == 401 else { return nil }
        let challenges = head.fields.all("www-authenticate").flatMap(ChallengeList.parse)
        guard
            let (method, challenge) = challenges.lazy.compactMap({ challenge in
                Method(scheme: challenge.scheme).map { ($0, challenge) }
            }).first
        else { return nil }
        let origin = request.url.origin
        self.method = method
        host = origin.host
        port = Int(origin.port)
        realm = challenge.parameters.first { $0.name == "realm" }?.value
        previousFailureCount = request.fields.contains { $0.hasName("authorization") } ? 1 : 0
    }
}

extension AuthenticationChallenge.Method {
    /// The method of an authentication scheme, whose name has no case.
    fileprivate init?(scheme: String) {
        switch scheme {
        case "basic": self = .basic
        case "digest": self = .digest
        case "ntlm": self = .ntlm
        case "negotiate": self = .negotiate
        default: return nil
        }
    }
}
