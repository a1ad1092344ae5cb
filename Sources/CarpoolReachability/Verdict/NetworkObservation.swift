internal import CarpoolSystem

/// The data from which a snapshot is computed: the kernel's, and that of files and the configuration.
public struct NetworkObservation: Sendable {
    /// The interfaces.
    public var links: [NetworkLink] = []
    /// Their addresses.
    public var addresses: [InterfaceAddress] = []
    /// Their types, by number.
    public var types: [Int: InterfaceType] = [:]
    /// The kernel's routes to the addresses that represent the internet.
    public var answers: [IPAddress.Family: [RouteAnswer]] = [:]
    /// The name servers, and the kernel's route to each.
    public var nameServers: [(address: IPAddress, answer: RouteAnswer)] = []
    /// Names of metered interfaces, with `*` for any characters.
    public var expensivePatterns: [String] = []
    /// Names of interfaces with low-data mode.
    public var constrainedPatterns: [String] = []
    /// Whether the interfaces are unknown, so that the status is unknown.
    public var hasUnknownInterfaces = false

    /// Creates an empty observation.
    public init() {}

    /// Evaluates the state of the network.
    public func evaluate() -> ReachabilitySnapshot { evaluate(interfacesByIndex()) }

    /// Evaluates the state of the network, with interfaces that were built before.
    func evaluate(_ interfaces: [Int: NetworkInterface]) -> ReachabilitySnapshot {
        var byIndex = interfaces
        let ipv4 = path(.v4, byIndex)
        let ipv6 = path(.v6, byIndex)
        for path in [ipv4, ipv6] {
            if let interface = path.interface { byIndex[interface.index]?.isOnPath = true }
        }
        var snapshot = ReachabilitySnapshot(
            status: status(ipv4, ipv6), ipv4: ipv4, ipv6: ipv6, interfaces: order(byIndex),
            nameServers: servers(byIndex))
        snapshot.markPathInterfaces()
        if snapshot.status != .satisfied, snapshot.status != .unknown {
            snapshot.unsatisfiedReason = reason(ipv4, ipv6, snapshot.interfaces)
        }
        snapshot.evaluateTunnel()
        snapshot.computeNetworkID()
        return snapshot
    }

    /// The known interfaces, by number.
    public func interfacesByIndex() -> [Int: NetworkInterface] {
        var addressesByIndex: [Int: [InterfaceAddress]] = [:]
        for address in addresses { addressesByIndex[address.interface, default: []].append(address) }
        var interfaces: [Int: NetworkInterface] = [:]
        for link in links {
            let type = types[link.index] ?? .of(link, deviceType: nil, isWireless: false)
            interfaces[link.index] = NetworkInterface(
                link: link, type: type,
                isExpensive: type == .cellular || expensivePatterns.contains { NamePattern.matches(link.name, $0) },
                isConstrained: constrainedPatterns.contains { NamePattern.matches(link.name, $0) }, isOnPath: false,
                addresses: addressesByIndex[link.index] ?? [])
        }
        return interfaces
    }

    /// The best path to a family's sentinels: a usable one, otherwise one with an interface, otherwise the first.
    private func path(_ family: IPAddress.Family, _ interfaces: [Int: NetworkInterface]) -> RoutePath {
        let paths = (answers[family] ?? []).map {
            RoutePath.evaluate($0, isInternet: true, hasUnknownInterfaces ? nil : interfaces)
        }
        return paths.first(where: \.isUsable) ?? paths.first { $0.interface != nil } ?? paths.first
            ?? .refused(.noRoute)
    }

    private func status(_ ipv4: RoutePath, _ ipv6: RoutePath) -> ReachabilityStatus {
        if hasUnknownInterfaces { return .unknown }
        if ipv4.isUsable || ipv6.isUsable { return .satisfied }
        let waits = [ipv4, ipv6].contains { $0.reason == .noCarrier && $0.interface?.link.isDormant == true }
        return waits ? .requiresConnection : .unsatisfied
    }

    private func reason(
        _ ipv4: RoutePath, _ ipv6: RoutePath, _ interfaces: [NetworkInterface]
    ) -> UnreachableReason {
        if let special = [ipv4.reason, ipv6.reason].compactMap({ $0 }).first(where: { $0 != .noRoute }) {
            return special
        }
        // Without a route, the interfaces show what is missing first.
        let candidates = interfaces.filter { $0.type != .loopback && $0.link.isUp }
        if candidates.isEmpty { return .noInterface }
        let running = candidates.filter(\.link.isUsable)
        if running.isEmpty { return .noCarrier }
        let hasAddress = running.contains { $0.addresses.contains { $0.scope == .global && $0.isUsable } }
        return hasAddress ? .noRoute : .noAddress
    }

    private func servers(_ interfaces: [Int: NetworkInterface]) -> [ReachabilitySnapshot.NameServer] {
        nameServers.map { address, answer in
            let path = RoutePath.evaluate(
                answer, isInternet: false, destinationIsLinkLocal: address.isLinkLocal,
                hasUnknownInterfaces ? nil : interfaces)
            return .init(address: address, isReachable: path.isUsable)
        }
    }

    private func order(_ interfaces: [Int: NetworkInterface]) -> [NetworkInterface] {
        interfaces.values.sorted { ($0.isOnPath ? 0 : 1, $0.index) < ($1.isOnPath ? 0 : 1, $1.index) }
    }
}

extension ReachabilitySnapshot {
    fileprivate mutating func markPathInterfaces() {
        if ipv4.interface != nil { ipv4.interface?.isOnPath = true }
        if ipv6.interface != nil { ipv6.interface?.isOnPath = true }
    }

    /// A tunnel looks usable for as long as its interface exists; whether there is a network under it depends on the
    /// other interfaces. Where there are only tunnels, as in some containers, the tunnel is trusted.
    fileprivate mutating func evaluateTunnel() {
        guard status == .satisfied, let inner = path?.interface, inner.type == .other else { return }
        let outer = interfaces.filter { $0.type != .loopback && $0.type != .other }
        let hasUnderlying = outer.contains { $0.isUsableUplink && carries($0) }
        tunnel = Tunnel(interface: inner.name, hasUnderlying: hasUnderlying)
        guard !hasUnderlying, !outer.isEmpty else { return }
        status = .unsatisfied
        unsatisfiedReason = .vpnInactive
    }

    /// A bridge is usable if one of its ports is: one with only virtual machines and containers leads nowhere.
    private func carries(_ interface: NetworkInterface) -> Bool {
        guard interface.link.kind == "bridge" else { return true }
        return interfaces.contains {
            $0.link.master == interface.index && $0.link.isUsable && $0.link.kind != "veth" && $0.link.kind != "tun"
        }
    }
}
