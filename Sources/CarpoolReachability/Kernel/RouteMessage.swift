/// One message of rtnetlink(7), with the fields that are used.
public enum RouteMessage: Equatable, Sendable {
    /// An interface, new or changed.
    case link(NetworkLink)
    /// An interface was removed.
    case linkGone(Int)
    /// An address, new or changed.
    case address(InterfaceAddress)
    /// An address was removed.
    case addressGone(InterfaceAddress)
    /// A route, as the answer to a request or as a notification.
    case route(KernelRoute)
    /// A route was removed.
    case routeGone
    /// A policy rule was added or removed.
    case rule
    /// A nexthop object was added or removed: the only notification about its routes.
    case nexthop
    /// The end of a dump.
    case done
    /// A refusal, with its `errno`; 0 is an acknowledgement.
    case failure(Int32)
    /// Anything else.
    case other(UInt16)
}

/// A message with its header.
public struct NumberedRouteMessage: Equatable, Sendable {
    /// The number of the request that it answers; 0 for notifications.
    public let sequence: UInt32
    /// Its dump was interrupted by a change (`NLM_F_DUMP_INTR`) and must be repeated.
    public let isInterrupted: Bool
    /// Its content.
    public let message: RouteMessage
}
