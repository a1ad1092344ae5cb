internal import CLinux

/// The causes of an evaluation of the network.
public struct ReachabilityCauses: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt16

    /// Creates a set from its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// An interface changed.
    public static let link = ReachabilityCauses(rawValue: 1 << 0)
    /// An address changed.
    public static let address = ReachabilityCauses(rawValue: 1 << 1)
    /// A route, a rule or a nexthop object changed.
    public static let route = ReachabilityCauses(rawValue: 1 << 2)
    /// Messages were dropped, or one was larger than the buffer: the known state may be wrong.
    public static let overflow = ReachabilityCauses(rawValue: 1 << 3)
    /// The list of name servers changed, or its path.
    public static let dns = ReachabilityCauses(rawValue: 1 << 4)
    /// An evaluation was requested.
    public static let asked = ReachabilityCauses(rawValue: 1 << 5)
    /// The periodic evaluation.
    public static let tick = ReachabilityCauses(rawValue: 1 << 6)
    /// The configuration changed.
    public static let configuration = ReachabilityCauses(rawValue: 1 << 7)

    private static let all: [(ReachabilityCauses, String)] = [
        (.link, "link"), (.address, "address"), (.route, "route"), (.overflow, "overflow"), (.dns, "dns"),
        (.asked, "asked"), (.tick, "tick"), (.configuration, "configuration"),
    ]

    /// The cause that a message type of rtnetlink(7) stands for; `nil` for other messages.
    init?(messageType: UInt16) {
        switch Int(messageType) {
        case RTM_NEWLINK, RTM_DELLINK: self = .link
        case RTM_NEWADDR, RTM_DELADDR: self = .address
        case RTM_NEWROUTE, RTM_DELROUTE, RTM_NEWRULE, RTM_DELRULE, RTM_NEWNEXTHOP, RTM_DELNEXTHOP: self = .route
        default: return nil
        }
    }

    /// Whether there is a cause other than periodic and requested evaluations.
    var hasChangeCause: Bool { !subtracting([.asked, .tick]).isEmpty }

    /// Their names.
    public var names: [String] { ReachabilityCauses.all.filter { contains($0.0) }.map(\.1) }
}
