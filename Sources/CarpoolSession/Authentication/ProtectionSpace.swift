internal import CarpoolHTTP

/// The part of a server in which a credential is valid (RFC 7617, section 2.2): a host, and as much more as is set.
public struct ProtectionSpace: Hashable, Sendable {
    /// The host as ``HostPattern`` has it.
    public let host: String
    /// The port; `nil` for every port.
    public let port: UInt16?
    /// `http` or `https`; `nil` for both.
    public let scheme: String?
    /// The realm; `nil` for every realm.
    public let realm: String?

    /// Makes a space. Throws if the host is not one host.
    public init(
        host: String, port: UInt16? = nil, scheme: String? = nil, realm: String? = nil
    ) throws(HostPattern.Refusal) {
        let isBareAddress = !host.hasPrefix("[") && host.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1
        let pattern = try HostPattern(isBareAddress ? "[\(host)]" : host)
        guard pattern.port == nil, !pattern.host.hasPrefix("*") else {
            throw HostPattern.Refusal(message: "not one host: \(String(host.prefix(64)).debugDescription)")
        }
        self.host = pattern.host
        self.port = port
        self.scheme = scheme
        self.realm = realm
    }

    /// The more specific one has the higher number: first the realm counts, then the port, then the scheme.
    var specificity: Int { (realm == nil ? 0 : 4) + (port == nil ? 0 : 2) + (scheme == nil ? 0 : 1) }

    /// Whether all of the space that is set but the realm is that of an origin.
    func contains(_ origin: Origin) -> Bool {
        host == HostPattern.name(origin.host) && origin.zone == nil && (port ?? origin.port) == origin.port
            && (scheme ?? origin.scheme) == origin.scheme
    }
}
