/// The equivalent of Apple's `SCNetworkReachabilityFlags`.
public struct ReachabilityFlags: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt32

    /// Takes over the bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A packet can leave over a point-to-point link.
    public static let transientConnection = ReachabilityFlags(rawValue: 1 << 0)
    /// A packet can leave.
    public static let reachable = ReachabilityFlags(rawValue: 1 << 1)
    /// A connection has to be established first.
    public static let connectionRequired = ReachabilityFlags(rawValue: 1 << 2)
    /// The address is this machine's own.
    public static let isLocalAddress = ReachabilityFlags(rawValue: 1 << 16)
    /// There is no gateway in between.
    public static let isDirect = ReachabilityFlags(rawValue: 1 << 17)
    /// The path uses a modem.
    public static let isWWAN = ReachabilityFlags(rawValue: 1 << 18)

    private static let all: [(ReachabilityFlags, String)] = [
        (.reachable, "reachable"), (.transientConnection, "transient_connection"),
        (.connectionRequired, "connection_required"), (.isLocalAddress, "is_local_address"), (.isDirect, "is_direct"),
        (.isWWAN, "is_wwan"),
    ]

    /// The names of the bits that are set.
    public var names: [String] { ReachabilityFlags.all.filter { contains($0.0) }.map(\.1) }

    /// The bits for a path with a status.
    static func of(_ status: ReachabilityStatus, _ path: RoutePath?) -> ReachabilityFlags? {
        switch status {
        case .unknown: return nil
        case .unsatisfied: return []
        case .satisfied, .requiresConnection:
            var flags: ReachabilityFlags = status == .satisfied ? .reachable : [.reachable, .connectionRequired]
            guard let path else { return flags }
            if path.interface?.link.isPointToPoint == true { flags.insert(.transientConnection) }
            if path.isLocalAddress { flags.insert(.isLocalAddress) }
            if path.isDirect { flags.insert(.isDirect) }
            if path.interface?.type == .cellular { flags.insert(.isWWAN) }
            return flags
        }
    }
}
