internal import Glibc

/// Why a packet could not leave.
public enum UnreachableReason: String, Sendable {
    /// No interface is switched on.
    case noInterface = "no_interface"
    /// The interface has no carrier, or waits for something.
    case noCarrier = "no_carrier"
    /// The interface has no address to send from.
    case noAddress = "no_address"
    /// No route leads there.
    case noRoute = "no_route"
    /// The route is of type `unreachable`.
    case unreachable
    /// A route forbids it (`prohibit`).
    case prohibited
    /// A route swallows it (`blackhole`).
    case blackhole
    /// Only an address that counts on its own link could be sent from.
    case linkLocalOnly = "link_local_only"
    /// The way leads into a tunnel under which there is no network.
    case vpnInactive = "vpn_inactive"

    /// The reason for a refused look-up (ip-route(8), route types).
    static func of(errno code: Int32) -> UnreachableReason {
        switch code {
        case EHOSTUNREACH: .unreachable
        case EACCES, EPERM: .prohibited
        case EINVAL: .blackhole
        case EADDRNOTAVAIL: .noAddress
        default: .noRoute
        }
    }
}
