internal import CCurl

/// A proxy through which connections are made. Equal if the members are.
///
/// An immutable object, because every copy of a request has a reference to it.
public final class Proxy: Hashable, Sendable {
    /// The protocol that is spoken to the proxy; the names are those of curl's schemes.
    public enum Kind: String, Sendable {
        /// HTTP.
        case http
        /// HTTP over TLS.
        case https
        /// SOCKS 4: the proxy receives the host's address.
        case socks4
        /// SOCKS 4a: the proxy resolves the host's name.
        case socks4a
        /// SOCKS 5: the proxy receives the host's address.
        case socks5
        /// SOCKS 5 with the host's name, which the proxy resolves.
        case socks5h

        /// Whether it is one of the SOCKS protocols.
        public var isSOCKS: Bool { self != .http && self != .https }
    }

    /// A user's name and password.
    public struct Credential: Hashable, Sendable {
        /// The name.
        public let user: String
        /// The password.
        public let password: String

        /// Makes a credential from its parts.
        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }

        /// Whether they are the same, byte for byte: to Swift, two texts are equal that only look the same.
        public static func == (a: Credential, b: Credential) -> Bool {
            a.user.utf8.elementsEqual(b.user.utf8) && a.password.utf8.elementsEqual(b.password.utf8)
        }
    }

    /// A scheme of authentication of an HTTP proxy.
    public enum Scheme: String, Sendable {
        /// User and password as they are.
        case basic
        /// A hash of user, password and a value of the proxy.
        case digest
    }

    /// The protocol.
    public let kind: Kind
    /// The host in lower case, an IPv6 address in brackets.
    public let host: String
    /// The port.
    public let port: UInt16
    /// The credential that the proxy gets; `nil` for none.
    public let credential: Credential?
    /// The schemes with which an HTTP proxy may get it. Basic alone is sent without a challenge.
    public let schemes: Set<Scheme>
    /// Whether requests for `http` URLs use a tunnel (CONNECT) too. With SOCKS every connection is one.
    public let tunnelsEverything: Bool
    /// The SOCKS proxy through which an HTTP proxy is reached; `nil` for none.
    public let preproxy: Proxy?

    /// Makes a proxy from its parts.
    public init(
        kind: Kind, host: String, port: UInt16, credential: Credential? = nil, schemes: Set<Scheme> = [.basic],
        tunnelsEverything: Bool = false, preproxy: Proxy? = nil
    ) {
        self.schemes = schemes
        self.kind = kind
        self.host = host
        self.port = port
        self.credential = credential
        self.tunnelsEverything = tunnelsEverything
        self.preproxy = preproxy
    }

    /// `scheme://host:port`, without the credential.
    public var description: String { "\(kind.rawValue)://\(host):\(port)" }

    /// The origin of the proxy itself, if requests for an origin go to it as they are, so that its connections serve
    /// every such origin; `nil` if each connection is a tunnel to one origin.
    func sharedOrigin(for origin: Origin) -> Origin? {
        guard !kind.isSOCKS, !tunnelsEverything, origin.scheme == "http" else { return nil }
        return Origin(scheme: "http", host: host, port: port)
    }

    /// Whether all members are equal.
    public static func == (a: Proxy, b: Proxy) -> Bool {
        a === b
            || a.kind == b.kind && a.host == b.host && a.port == b.port && a.credential == b.credential
                && a.schemes == b.schemes && a.tunnelsEverything == b.tunnelsEverything && a.preproxy == b.preproxy
    }

    /// Hashes the members.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(credential)
        hasher.combine(tunnelsEverything)
        hasher.combine(preproxy)
    }
}
