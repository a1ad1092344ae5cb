/// What the kernel answers when it is asked for the route to an address (`RTM_GETROUTE`).
public enum RouteAnswer: Equatable, Sendable {
    /// It would send a packet by this route.
    case route(KernelRoute)
    /// It would refuse, with this `errno`.
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
        /// To none, or to many.
        case other = 0
    }

    /// Where packets end.
    public let kind: Kind
    /// The number of the interface that they leave by.
    public let interface: Int?
    /// The machine that they are handed to; `nil` on the link itself.
    public let gateway: IPAddress?
    /// The address that they would come from.
    public let source: IPAddress?

    /// Makes one from its parts.
    public init(kind: Kind = .unicast, interface: Int?, gateway: IPAddress? = nil, source: IPAddress? = nil) {
        self.kind = kind
        self.interface = interface
        self.gateway = gateway
        self.source = source
    }
}
