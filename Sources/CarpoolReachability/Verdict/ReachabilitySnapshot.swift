internal import CarpoolSystem

/// How the network stood at one moment.
public struct ReachabilitySnapshot: Equatable, Sendable {
    /// A tunnel that internet traffic uses.
    public struct Tunnel: Equatable, Sendable {
        /// The tunnel's interface.
        public let interface: String
        /// Whether there is a network under it.
        public let hasUnderlying: Bool

        /// Makes one from its parts.
        public init(interface: String, hasUnderlying: Bool) {
            self.interface = interface
            self.hasUnderlying = hasUnderlying
        }
    }

    /// A name server and whether packets to it can leave.
    public struct NameServer: Equatable, Sendable {
        /// Its address.
        public let address: IPAddress
        /// Whether packets to it can leave.
        public let isReachable: Bool
    }

    /// Whether packets can leave for the world.
    public internal(set) var status: ReachabilityStatus
    /// Why they cannot.
    public internal(set) var unsatisfiedReason: UnreachableReason?
    /// The way of IPv4.
    public internal(set) var ipv4: RoutePath
    /// The way of IPv6.
    public internal(set) var ipv6: RoutePath
    /// All interfaces, those of the internet paths first.
    public internal(set) var interfaces: [NetworkInterface] = []
    /// The name servers of resolv.conf(5).
    public internal(set) var nameServers: [NameServer] = []
    /// The tunnel that internet traffic uses.
    public internal(set) var tunnel: Tunnel?
    /// A name for the network: another gateway, interface or subnet makes another name. Empty without a usable path.
    public internal(set) var networkID = ""

    /// A snapshot of an unknown state.
    public static let unknown = ReachabilitySnapshot(status: .unknown, ipv4: RoutePath(), ipv6: RoutePath())

    /// A snapshot with the status of the configuration.
    static func overridden(_ status: ReachabilityStatus) -> ReachabilitySnapshot {
        let canTry = status == .satisfied || status == .unknown
        let path = canTry ? RoutePath() : .refused(.noRoute)
        return ReachabilitySnapshot(status: status, unsatisfiedReason: path.reason, ipv4: path, ipv6: path)
    }

    /// The way of one family.
    public func path(_ family: IPAddress.Family) -> RoutePath { family == .v4 ? ipv4 : ipv6 }

    /// The way that counts: IPv4's if it is usable, else IPv6's, else that of the family that has got furthest.
    public var path: RoutePath? {
        [ipv4, ipv6].first { $0.isUsable && $0.interface != nil } ?? [ipv4, ipv6].first { $0.interface != nil }
    }

    /// The interface that traffic to the world leaves by; `nil` if it does not.
    public var interface: NetworkInterface? { status == .satisfied ? path?.interface : nil }
    /// Whether a name server can be reached.
    public var supportsDNS: Bool { nameServers.contains(where: \.isReachable) }
    /// Whether internet traffic is metered.
    public var isExpensive: Bool { usablePaths.contains { $0.interface?.isExpensive == true } }
    /// Whether traffic to the world should be kept low.
    public var isConstrained: Bool { usablePaths.contains { $0.interface?.isConstrained == true } }
    /// The machines that traffic to the world is handed to.
    public var gateways: [IPAddress] { usablePaths.compactMap(\.gateway) }
    /// The bits of SCNetworkReachability; `nil` if unknown.
    public var flags: ReachabilityFlags? { .of(status, path) }
    /// The status in the words of the model.
    public var modelStatus: ModelStatus { ModelStatus(status, path?.interface?.type) }

    /// All addresses that a connection can have as its own end.
    public var localAddresses: Set<IPAddress> {
        var addresses: Set<IPAddress> = []
        for interface in interfaces {
            for address in interface.addresses where address.isUsable { addresses.insert(address.address) }
        }
        return addresses
    }

    private var usablePaths: [RoutePath] { status == .satisfied ? [ipv4, ipv6].filter(\.isUsable) : [] }

    /// Sets a name of the network from properties that differ between networks.
    mutating func nameNetwork() {
        guard !usablePaths.isEmpty else { return }
        var hash = StableHash()
        for path in usablePaths {
            hash.combine(UInt64(truncatingIfNeeded: path.interface?.index ?? 0))
            for byte in path.gateway?.bytes ?? [] { hash.combine(UInt64(byte)) }
            let own = path.interface?.addresses.first { $0.address == path.source }
            for byte in own.map({ $0.address.network(prefixLength: $0.prefixLength).bytes }) ?? [] {
                hash.combine(UInt64(byte))
            }
        }
        networkID = String(hash.value & 0xFFFF_FFFF, radix: 16)
    }
}
