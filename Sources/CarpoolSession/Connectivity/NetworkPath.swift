/// The way from this machine to a host, as far as it is known without sending anything.
public struct NetworkPath: Equatable, Sendable {
    /// Whether there is one.
    public enum Status: String, Sendable {
        /// A packet can leave for the host.
        case satisfied
        /// None can; ``NetworkPath/reason`` says why.
        case unsatisfied
        /// None can before somebody has connected something.
        case requiresConnection = "requires_connection"
        /// Nobody knows.
        case unknown
    }

    /// Whether there is a way.
    public var status: Status
    /// Why there is none, as a word such as `no_carrier` or `no_route`; `nil` if there is one.
    public var reason: String?
    /// The device that packets leave by; `nil` if there is none, or it is not known.
    public var interface: String?
    /// Whether anything can leave over IPv4.
    public var supportsIPv4 = true
    /// Whether anything can leave over IPv6.
    public var supportsIPv6 = true
    /// Whether a server that resolves names can be reached.
    public var supportsDNS = true
    /// Whether a name may stand for a neighbour of this machine, which is there although there is no way to the world.
    public var mayBeNearby = false

    /// A way with everything that is possible.
    public init(_ status: Status, reason: String? = nil) {
        self.status = status
        self.reason = reason
    }

    /// Whether anything sent to the host has a chance: also if nobody knows.
    public var isUsable: Bool { status == .satisfied || status == .unknown }

    /// Whether a request that waits for the network should go.
    var isWorthTrying: Bool { isUsable || mayBeNearby }
}

extension NetworkPath {
    /// What a failure tells of the network.
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
