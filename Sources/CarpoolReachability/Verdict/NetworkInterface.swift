/// One interface with its addresses, as part of a snapshot.
public struct NetworkInterface: Equatable, Sendable {
    /// The kernel's message about it.
    public let link: NetworkLink
    /// The type of its link.
    public let type: InterfaceType
    /// Whether it is metered: a modem, or a name from the configuration.
    public let isExpensive: Bool
    /// Whether traffic over it should be kept low: a name from the configuration, since Linux has no such property.
    public let isConstrained: Bool
    /// Whether traffic to the internet uses it.
    public internal(set) var isOnPath: Bool
    /// Its addresses.
    public internal(set) var addresses: [InterfaceAddress]

    /// Its name.
    public var name: String { link.name }
    /// Its number.
    public var index: Int { link.index }

    /// Whether it is virtual, without its own hardware.
    public var isVirtual: Bool { link.kind != nil || type == .loopback || type == .other }

    /// Whether it carries traffic and has an address with more than link scope.
    var isUsableUplink: Bool {
        type != .loopback && type != .other && link.isUsable
            && addresses.contains { $0.scope == .global && $0.isUsable }
    }
}
