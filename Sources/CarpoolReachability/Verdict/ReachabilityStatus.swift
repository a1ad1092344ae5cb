/// Whether packets can leave this machine to the internet, or to one host.
public enum ReachabilityStatus: String, Sendable {
    /// There is a route. Packets may still not arrive.
    case satisfied
    /// Packets cannot leave.
    case unsatisfied
    /// There is no route yet: an interface is still connecting.
    case requiresConnection = "requires_connection"
    /// Unknown; requests should be tried.
    case unknown
}

/// The status as one of the three values of Alamofire's `NetworkReachabilityManager`.
public enum ModelStatus: Equatable, Sendable {
    /// The kind of interface of a reachable network.
    public enum ConnectionType: String, Sendable {
        /// Anything but a modem.
        case ethernetOrWiFi = "ethernet_or_wifi"
        /// A modem.
        case cellular
    }

    /// Unknown.
    case unknown
    /// Packets cannot leave.
    case notReachable
    /// Packets can leave.
    case reachable(ConnectionType)

    /// Reads the flags by the model's rule: reachable, and nothing to be set up first. The rule's exception, a
    /// connection that comes by itself, has no counterpart here.
    public init(flags: ReachabilityFlags?) {
        guard let flags else {
            self = .unknown
            return
        }
        guard flags.contains(.reachable), !flags.contains(.connectionRequired) else {
            self = .notReachable
            return
        }
        self = .reachable(flags.contains(.isWWAN) ? .cellular : .ethernetOrWiFi)
    }

    /// Reads a status and the type of its interface.
    init(_ status: ReachabilityStatus, _ type: InterfaceType?) {
        switch status {
        case .unknown: self = .unknown
        case .unsatisfied, .requiresConnection: self = .notReachable
        case .satisfied: self = .reachable(type == .cellular ? .cellular : .ethernetOrWiFi)
        }
    }
}
