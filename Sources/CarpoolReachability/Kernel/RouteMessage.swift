/// One message of rtnetlink(7), as far as anything here depends on it.
public enum RouteMessage: Equatable, Sendable {
    /// An interface, new or changed.
    case link(NetworkLink)
    /// An interface is gone.
    case linkGone(Int)
    /// An address, new or changed.
    case address(InterfaceAddress)
    /// An address is gone.
    case addressGone(InterfaceAddress)
    /// A route, as the answer to a question or as news.
    case route(KernelRoute)
    /// A route is gone.
    case routeGone
    /// A policy rule has come or gone.
    case rule
    /// A nexthop object has come or gone: the only sign of the routes that go with it.
    case nexthop
    /// The end of a dump.
    case done
    /// A refusal, with its `errno`; 0 is an acknowledgement.
    case failure(Int32)
    /// Anything else.
    case other(UInt16)
}

/// A message with what its header says.
public struct NumberedRouteMessage: Equatable, Sendable {
    /// The number of the question that it answers; 0 for news.
    public let sequence: UInt32
    /// The dump that it is part of missed a change (`NLM_F_DUMP_INTR`), and has to be asked for again.
    public let isInterrupted: Bool
    /// What it says.
    public let message: RouteMessage
}
