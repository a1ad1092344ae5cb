/// The origin of a URL (RFC 6454): scheme, host and port.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// The host in lower case, an IPv6 address in brackets.
    public let host: String
    /// The port, also where it is the scheme's default.
    public let port: UInt16
    /// The zone of an IPv6 address (RFC 6874), such as `eth0`: the same address of another zone is another machine.
    /// `nil` for other hosts.
    public let zone: String?

    /// Makes an origin from its parts.
    public init(scheme: String, host: String, port: UInt16, zone: String? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.zone = zone
    }

    /// The host as URLs have it, with the zone.
    public var hostWithZone: String { zone.map { "\(host.dropLast())%25\($0)]" } ?? host }

    /// `scheme://host:port`
    public var description: String { "\(scheme)://\(hostWithZone):\(port)" }
}

extension Origin {
    /// Whether the host is an address and not a name.
    var isLiteral: Bool { Origin.isLiteral(host) }

    /// Whether a host is an address and not a name: its last label is a number (URL Standard, section 3.5).
    static func isLiteral(_ host: String) -> Bool {
        guard let last = host.utf8.last, (48...57).contains(last) else { return host.hasPrefix("[") }
        return host.utf8.reversed().prefix { $0 != 0x2E }.allSatisfy { (48...57).contains($0) }
    }

    /// The host, an IPv6 address without brackets.
    var bareHost: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }
}
