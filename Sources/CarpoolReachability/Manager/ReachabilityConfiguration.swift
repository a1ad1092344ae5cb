/// The configuration of a ``NetworkReachabilityManager``.
public struct ReachabilityConfiguration: Equatable, Sendable {
    /// Addresses that represent the internet: only the kernel's route to them counts, nothing is sent. Public ones,
    /// since some machines have a documentation network on an interface.
    public var sentinels: [IPAddress] = ["198.41.0.4", "1.0.0.1", "2001:503:ba3e::2:30", "2620:fe::fe"].compactMap {
        IPAddress($0)
    }
    /// Names of metered interfaces, in addition to modems; `*` matches any characters.
    public var expensiveInterfaces: [String] = []
    /// Names of interfaces with low-data mode; `*` matches any characters.
    public var constrainedInterfaces: [String] = []
    /// A status that replaces the real one.
    public var override: ReachabilityStatus?
    /// The path of the list of name servers.
    public var resolverPath = "/etc/resolv.conf"
    /// The sysfs directory of the interfaces.
    public var interfacesPath = "/sys/class/net"
    /// The size of the receive buffer for the kernel's messages, in bytes. The kernel's default holds some 250 of them;
    /// an overflow costs only another evaluation.
    public var receiveBufferBytes = 1_048_576

    /// The defaults.
    public init() {}
}
