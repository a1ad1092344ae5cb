/// The kernel's answer to a route query (`RTM_GETROUTE`).
public enum RouteAnswer: Equatable, Sendable {
    /// The route that a packet would take.
    case route(KernelRoute)
    /// The `errno` of a refusal.
    case refused(Int32)
}

/// The route that the kernel would take to an address.
public struct KernelRoute: Equatable, Sendable {
    /// The kind `RTN_*`.
    public enum Kind: UInt8, Sendable {
        /// To another machine.
        case unicast = 1
        /// To this machine.
        case local = 2
        /// To no machine, or to several.
        case other = 0
    }

    /// Its kind.
    public let kind: Kind
    /// The number of the outgoing interface.
    public let interface: Int?
    /// The gateway; `nil` on the link itself.
    public let gateway: IPAddress?
    /// The source address.
    public let source: IPAddress?

    /// Makes one from its parts.
    public init(kind: Kind = .unicast, interface: Int?, gateway: IPAddress? = nil, source: IPAddress? = nil) {
        self.kind = kind
        self.interface = interface
        self.gateway = gateway
        self.source = source
    }
}
