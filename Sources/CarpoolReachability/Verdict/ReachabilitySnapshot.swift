internal import CarpoolSystem

/// The state of the network at one time.
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

    /// Whether packets can leave to the internet.
    public internal(set) var status: ReachabilityStatus
    /// Why they cannot.
    public internal(set) var unsatisfiedReason: UnreachableReason?
    /// The path of IPv4.
    public internal(set) var ipv4: RoutePath
    /// The path of IPv6.
    public internal(set) var ipv6: RoutePath
    /// All interfaces, those of the internet paths first.
    public internal(set) var interfaces: [NetworkInterface] = []
    /// The name servers of resolv.conf(5).
    public internal(set) var nameServers: [NameServer] = []
    /// The tunnel that internet traffic uses.
    public internal(set) var tunnel: Tunnel?
    /// An identifier of the network, which changes with gateway, interface and subnet. Empty without a usable path.
    public internal(set) var networkID = ""

    /// A snapshot of an unknown state.
    public static let unknown = ReachabilitySnapshot(status: .unknown, ipv4: RoutePath(), ipv6: RoutePath())

    /// A snapshot with the status of the configuration.
    static func overridden(_ status: ReachabilityStatus) -> ReachabilitySnapshot {
        let canTry = status == .satisfied || status == .unknown
        let path = canTry ? RoutePath() : .refused(.noRoute)
        return ReachabilitySnapshot(status: status, unsatisfiedReason: path.reason, ipv4: path, ipv6: path)
    }

    /// The path of one family.
    public func path(_ family: IPAddress.Family) -> RoutePath { family == .v4 ? ipv4 : ipv6 }

    /// The preferred path: IPv4's if it is usable, otherwise IPv6's if that is usable, otherwise the first one with an
    /// interface.
    public var path: RoutePath? {
        [ipv4, ipv6].first { $0.isUsable && $0.interface != nil } ?? [ipv4, ipv6].first { $0.interface != nil }
    }

    /// The interface that traffic to the internet uses; `nil` if packets cannot leave.
    public var interface: NetworkInterface? { status == .satisfied ? path?.interface : nil }
    /// Whether a name server can be reached.
    public var supportsDNS: Bool { nameServers.contains(where: \.isReachable) }
    /// Whether internet traffic is metered.
    public var isExpensive: Bool { usablePaths.contains { $0.interface?.isExpensive == true } }
    /// Whether traffic to the internet should be kept low.
    public var isConstrained: Bool { usablePaths.contains { $0.interface?.isConstrained == true } }
    /// The gateways of traffic to the internet.
    public var gateways: [IPAddress] { usablePaths.compactMap(\.gateway) }
    /// The bits of SCNetworkReachability; `nil` if unknown.
    public var flags: ReachabilityFlags? { .of(status, path) }
    /// The status in the terms of Alamofire.
    public var modelStatus: ModelStatus { ModelStatus(status, path?.interface?.type) }

    /// All addresses that connections can use as their local address.
    public var localAddresses: Set<IPAddress> {
        var addresses: Set<IPAddress> = []
        for interface in interfaces {
            for address in interface.addresses where address.isUsable { addresses.insert(address.address) }
        }
        return addresses
    }

    private var usablePaths: [RoutePath] { status == .satisfied ? [ipv4, ipv6].filter(\.isUsable) : [] }

    /// Computes ``networkID`` from properties that differ between networks.
    mutating func computeNetworkID() {
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
