/// The origin of a URL (RFC 6454): scheme, host and port.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// The host in lower case, an IPv6 address in brackets.
    public let host: String
    /// The port, also where it is the scheme's default.
    public let port: UInt16

    /// Makes an origin from its parts.
    public init(scheme: String, host: String, port: UInt16) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// `scheme://host:port`
    public var description: String { "\(scheme)://\(host):\(port)" }
}

extension Origin {
    /// Whether the host is an address and not a name.
    var isLiteral: Bool { host.hasPrefix("[") || host.utf8.last.map { (48...57).contains($0) } ?? false }

    /// The host, an IPv6 address without brackets.
    var bareHost: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }
}
