/// Whether packets to one address can leave, and how.
public struct HostReachability: Equatable, Sendable {
    /// The address.
    public let address: IPAddress
    /// The way to it.
    public let path: RoutePath
    /// The path in one word; unknown if the kernel does not report enough of it.
    public let status: ReachabilityStatus

    /// Evaluates a path.
    init(address: IPAddress, path: RoutePath, isBlind: Bool) {
        self.address = address
        self.path = path
        if path.isUsable {
            status = isBlind ? .unknown : .satisfied
        } else {
            let waits = path.reason == .noCarrier && path.interface?.link.isDormant == true
            status = waits ? .requiresConnection : .unsatisfied
        }
    }

    /// Whether a request to the address can be tried.
    public var canTry: Bool { path.isUsable }
    /// The bits of SCNetworkReachability.
    public var flags: ReachabilityFlags? { .of(status, path) }
    /// The status in the words of the model.
    public var modelStatus: ModelStatus { ModelStatus(status, path.interface?.type) }
}
