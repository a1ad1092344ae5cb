/// Where the connection for an origin goes.
public struct ConnectionDestination: Equatable, Sendable {
    /// The host that is connected to, an IPv6 address in brackets.
    public var host: String
    /// The port that is connected to.
    public var port: UInt16
    /// The addresses that are tried; empty for those that the resolver returns.
    public var addresses: [String] = []
}

extension ConnectionAddresses {
    /// Where a connection for an origin goes, by libcurl's rules: the first replacement that matches and changes
    /// something, then the last addresses of that host and port, then those of every host (`*`). A Unix socket, which
    /// has no host, is not considered.
    public func destination(for origin: Origin) -> ConnectionDestination {
        var destination = ConnectionDestination(host: origin.host, port: origin.port)
        for replacement in connectTo where replacement.matches(origin) {
            guard replacement.targetHost != nil || replacement.targetPort != nil else { continue }
            destination.host = replacement.targetHost ?? origin.host
            destination.port = replacement.targetPort ?? origin.port
            break
        }
        let entries = resolve.filter { $0.port == destination.port }
        let entry = entries.last { $0.host == destination.host } ?? entries.last { $0.host == "*" }
        destination.addresses = (entry?.addresses ?? []).filter { family?.contains($0) ?? true }
        return destination
    }
}

extension ConnectionAddresses.Family {
    /// Whether an address, a literal without brackets, is of this family.
    public func contains(_ address: String) -> Bool { address.utf8.contains(UInt8(ascii: ":")) == (self == .ipv6) }
}

extension HostReplacement {
    fileprivate func matches(_ origin: Origin) -> Bool {
        (host == nil || host == origin.host) && (port == nil || port == origin.port)
    }
}
