/// The reportable difference between two snapshots.
public struct ReachabilityDifference: Equatable, Sendable {
    /// The level of a difference.
    public enum Level: String, Sendable {
        /// Connections are affected: some may work now that did not before, or the reverse.
        case major
        /// Only details of the same network.
        case minor
    }

    /// The level; `nil` if there is no reportable difference.
    public let level: Level?
    /// The names of the differing properties, as on the wire.
    public let fields: [String]

    /// Compares two snapshots. Interfaces that traffic to the internet does not use are ignored.
    public init(_ old: ReachabilitySnapshot, _ new: ReachabilitySnapshot) {
        var major: [String] = []
        if old.status != new.status { major.append("status") }
        if old.interface?.index != new.interface?.index { major.append("interface") }
        if ReachabilityDifference.differ(old.ipv4, new.ipv4) { major.append("ipv4") }
        if ReachabilityDifference.differ(old.ipv6, new.ipv6) { major.append("ipv6") }
        if old.networkID != new.networkID { major.append("network_id") }
        var minor: [String] = []
        if old.nameServers != new.nameServers { minor.append("dns") }
        if old.isExpensive != new.isExpensive { minor.append("is_expensive") }
        if old.isConstrained != new.isConstrained { minor.append("is_constrained") }
        if old.gateways != new.gateways { minor.append("gateways") }
        if ReachabilityDifference.differInAddresses(old.interface, new.interface) { minor.append("addresses") }
        level = major.isEmpty ? minor.isEmpty ? nil : .minor : .major
        fields = major + minor
    }

    private static func differ(_ old: RoutePath, _ new: RoutePath) -> Bool {
        old.isUsable != new.isUsable || (new.isUsable && old.source != new.source)
    }

    /// The name and the addresses of an interface. Whether an address is tentative or deprecated is not reported.
    private static func differInAddresses(_ old: NetworkInterface?, _ new: NetworkInterface?) -> Bool {
        guard let old, let new, old.index == new.index else { return false }
        return old.name != new.name
            || Set(old.addresses.filter(\.isUsable).map(\.address))
                != Set(new.addresses.filter(\.isUsable).map(\.address))
    }
}
