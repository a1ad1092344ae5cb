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

    /// What a response asks for (RFC 9110, section 11.6.1), in the first of its challenges; `nil` if it asks for nothing that is known.
    init?(_ head: ResponseHead, to request: TransportRequest) {
        guard head.status == 401, let field = head.fields.first("www-authenticate") else { return nil }
        let scheme = field.prefix { $0 != " " && $0 != "," }.lowercased()
        switch scheme {
        case "basic": method = .basic
        case "digest": method = .digest
        case "ntlm": method = .ntlm
        case "negotiate": method = .negotiate
        default: return nil
        }
        let origin = request.url.origin
        host = origin.host
        port = Int(origin.port)
        realm = AuthenticationChallenge.realm(in: field)
        previousFailureCount = request.fields.contains { $0.hasName("authorization") } ? 1 : 0
    }

    /// The quoted string after `realm=`.
    private static func realm(in field: String) -> String? {
        var rest = field[...]
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].split { $0 == " " || $0 == "," }.last
            rest = rest[rest.index(after: equals)...]
            guard rest.first == "\"" else { continue }
            rest = rest.dropFirst()
            guard let end = rest.firstIndex(of: "\"") else { return nil }
            if name?.lowercased() == "realm" { return String(rest[..<end]) }
            rest = rest[rest.index(after: end)...]
        }
        return nil
    }
}
