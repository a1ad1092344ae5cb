internal import Glibc

/// Why a packet could not leave.
public enum UnreachableReason: String, Sendable {
    /// No interface is up.
    case noInterface = "no_interface"
    /// The interface has no carrier, or waits for something.
    case noCarrier = "no_carrier"
    /// The interface has no address to send from.
    case noAddress = "no_address"
    /// No route leads there.
    case noRoute = "no_route"
    /// The route is of type `unreachable`.
    case unreachable
    /// The route is of type `prohibit`.
    case prohibited
    /// The route is of type `blackhole`, which drops packets.
    case blackhole
    /// The only source address is link-local, and the destination is not.
    case linkLocalOnly = "link_local_only"
    /// The path uses a tunnel, and there is no network below the tunnel.
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
