/// What a ``NetworkReachabilityManager`` is told when it is made.
public struct ReachabilityConfiguration: Equatable, Sendable {
    /// Addresses that stand for the whole world: what the kernel would do with a packet to them counts, and none is ever sent. Public ones,
    /// since machines exist that have one of the documentation's networks on an interface.
    public var sentinels: [IPAddress] = ["198.41.0.4", "1.0.0.1", "2001:503:ba3e::2:30", "2620:fe::fe"].compactMap {
        IPAddress($0)
    }
    /// Names of interfaces over which traffic costs money, besides modems; `*` stands for any characters.
    public var expensiveInterfaces: [String] = []
    /// Names of interfaces over which traffic should be kept low; `*` stands for any characters.
    public var constrainedInterfaces: [String] = []
    /// A status that is told instead of the real one.
    public var override: ReachabilityStatus?
    /// The list of name servers.
    public var resolverPath = "/etc/resolv.conf"
    /// Where sysfs shows the interfaces.
    public var interfacesPath = "/sys/class/net"
    /// The receive buffer for the kernel's messages, in bytes. The kernel's own default holds some 250 of them; an overflow costs no more
    /// than another look.
    public var receiveBufferBytes = 1_048_576

    /// The defaults.
    public init() {}
}
