/// The path that packets to one address, or to all public addresses of a family, would take now.
public struct RoutePath: Equatable, Sendable {
    /// Why packets would not leave; `nil` if they would.
    public internal(set) var reason: UnreachableReason?
    /// The outgoing interface.
    public internal(set) var interface: NetworkInterface?
    /// The gateway; `nil` on the link itself.
    public internal(set) var gateway: IPAddress?
    /// The source address.
    public internal(set) var source: IPAddress?
    /// Whether packets would stay in this machine.
    public internal(set) var isLocalAddress = false

    /// Whether packets would leave.
    public var isUsable: Bool { reason == nil }
    /// Whether the peer is on a link of this machine.
    public var isDirect: Bool { interface != nil && gateway == nil }
    /// Whether the source belongs to another interface (the kernel does that when the outgoing one has no address).
    public var isSourceForeign: Bool {
        guard let source, let interface, !isLocalAddress else { return false }
        return !interface.addresses.contains { $0.address == source }
    }

    static func refused(_ reason: UnreachableReason) -> RoutePath { RoutePath(reason: reason) }

    /// Evaluates the kernel's answer together with the interface: a look-up also succeeds when the cable is pulled.
    /// - Parameters: - isInternet: whether the address represents the internet, so that a route within this machine is
    ///   not usable.
    ///   - interfaces: all of them by number; `nil` if unknown, in which case only the kernel's answer counts.
    static func evaluate(
        _ answer: RouteAnswer, isInternet: Bool, destinationIsLinkLocal: Bool = false,
        _ interfaces: [Int: NetworkInterface]?
    ) -> RoutePath {
        switch answer {
        case .refused(let code): return .refused(.of(errno: code))
        case .route(let route):
            guard let interfaces else { return RoutePath(source: route.source) }
            var path = RoutePath(
                reason: nil, interface: route.interface.flatMap { interfaces[$0] }, gateway: route.gateway,
                source: route.source, isLocalAddress: route.kind == .local)
            path.reason = path.unreachableReason(route.kind, isInternet, destinationIsLinkLocal)
            return path
        }
    }

    private func unreachableReason(
        _ kind: KernelRoute.Kind, _ isInternet: Bool, _ destinationIsLinkLocal: Bool
    ) -> UnreachableReason? {
        // An unknown interface was added since the last evaluation; a host behind it is assumed to be reachable.
        guard let interface else { return isInternet ? .noInterface : nil }
        if kind == .local, !isInternet { return nil }
        if kind != .unicast || interface.type == .loopback { return isInternet ? .noInterface : nil }
        if !interface.link.isUsable { return .noCarrier }
        guard let source else { return .noAddress }
        if source.family == .v6, source.isLinkLocal, !destinationIsLinkLocal { return .linkLocalOnly }
        return nil
    }
}
