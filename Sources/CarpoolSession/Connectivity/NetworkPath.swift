/// The path from this machine to a host, as far as it is known without sending anything.
public struct NetworkPath: Equatable, Sendable {
    /// Whether there is a path.
    public enum Status: String, Sendable {
        /// A packet can leave for the host.
        case satisfied
        /// None can; ``NetworkPath/reason`` says why.
        case unsatisfied
        /// None can before a connection is established.
        case requiresConnection = "requires_connection"
        /// The state is unknown.
        case unknown
    }

    /// Whether there is a path.
    public var status: Status
    /// Why there is no path, as a word such as `no_carrier` or `no_route`; `nil` if there is one.
    public var reason: String?
    /// The device of the route; `nil` if there is none, or it is not known.
    public var interface: String?
    /// Whether there is a route for IPv4.
    public var supportsIPv4 = true
    /// Whether there is a route for IPv6.
    public var supportsIPv6 = true
    /// Whether a DNS server can be reached.
    public var supportsDNS = true
    /// Whether a name may belong to a neighbour of this machine, which can be reached without a default route.
    public var mayBeNearby = false

    /// Makes a path that supports everything.
    public init(_ status: Status, reason: String? = nil) {
        self.status = status
        self.reason = reason
    }

    /// Whether the host may be reachable: also if the state is unknown.
    public var isUsable: Bool { status == .satisfied || status == .unknown }

    /// Whether a request that waits for connectivity should be sent.
    var isWorthTrying: Bool { isUsable || mayBeNearby }
}

extension NetworkPath {
    /// The details of the network's state for a failure.
    func facts(hasLost: Bool) -> [SessionError.Detail] {
        var facts = [SessionError.Detail("status", .string(status.rawValue))]
        if let reason { facts.append(.init("reason", .string(reason))) }
        if let interface { facts.append(.init("interface", .string(interface))) }
        return facts + [
            .init("supports_ipv4", .boolean(supportsIPv4)), .init("supports_ipv6", .boolean(supportsIPv6)),
            .init("supports_dns", .boolean(supportsDNS)), .init("lost_meanwhile", .boolean(hasLost)),
        ]
    }
}
