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

    /// The challenge for the certificate of a server.
    init(serverTrustOf request: TransportRequest) {
        let origin = request.url.origin
        (method, host, port, realm, previousFailureCount) = (.serverTrust, origin.host, Int(origin.port), nil, 0)
    }

    /// The first known challenge of a response (RFC 9110, section 11.6.1); `nil` if there is none.
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
    /// The method of an authentication scheme, whatever the case of its name.
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
