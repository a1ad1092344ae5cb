/// The way that packets to one address, or to a whole family of addresses, would take now.
public struct RoutePath: Equatable, Sendable {
    /// Why they would not leave; `nil` if they would.
    public internal(set) var reason: UnreachableReason?
    /// The interface that they would leave by.
    public internal(set) var interface: NetworkInterface?
    /// The machine that they would be handed to; `nil` on the link itself.
    public internal(set) var gateway: IPAddress?
    /// The address that they would come from.
    public internal(set) var source: IPAddress?
    /// Whether they would stay in this machine.
    public internal(set) var isLocalAddress = false

    /// Whether they would leave.
    public var isUsable: Bool { reason == nil }
    /// Whether the other end is on a link of this machine's.
    public var isDirect: Bool { interface != nil && gateway == nil }
    /// Whether the kernel has borrowed the source from another interface (it does when the right one has no address).
    public var isSourceForeign: Bool {
        guard let source, let interface, !isLocalAddress else { return false }
        return !interface.addresses.contains { $0.address == source }
    }

    static func refused(_ reason: UnreachableReason) -> RoutePath { RoutePath(reason: reason) }

    /// Judges what the kernel answered: a look-up also succeeds when the cable is pulled, so the interface has its say.
    /// - Parameters:
    ///   - isInternet: the address stands for the whole family, so what stays in this machine does not count.
    ///   - interfaces: all of them by number; `nil` if they are not known, upon which only the kernel's answer counts.
    static func judge(
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
            path.reason = path.judge(route.kind, isInternet, destinationIsLinkLocal)
            return path
        }
    }

    private func judge(
        _ kind: KernelRoute.Kind, _ isInternet: Bool, _ destinationIsLinkLocal: Bool
    ) -> UnreachableReason? {
        // One that is not known has come since the last look, and a host behind it is given the benefit of the doubt.
        guard let interface else { return isInternet ? .noInterface : nil }
        if kind == .local, !isInternet { return nil }
        if kind != .unicast || interface.type == .loopback { return isInternet ? .noInterface : nil }
        if !interface.link.isUsable { return .noCarrier }
        guard let source else { return .noAddress }
        if source.family == .v6, source.isLinkLocal, !destinationIsLinkLocal { return .linkLocalOnly }
        return nil
    }
}
