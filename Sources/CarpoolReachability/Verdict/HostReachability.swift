/// Whether packets to one address can leave, and how.
public struct HostReachability: Equatable, Sendable {
    /// The address.
    public let address: IPAddress
    /// The path to the address.
    public let path: RoutePath
    /// The status of the path; unknown if the kernel does not report enough of it.
    public let status: ReachabilityStatus

    /// Evaluates a path.
    init(address: IPAddress, path: RoutePath, hasUnknownInterfaces: Bool) {
        self.address = address
        self.path = path
        if path.isUsable {
            status = hasUnknownInterfaces ? .unknown : .satisfied
        } else {
            let waits = path.reason == .noCarrier && path.interface?.link.isDormant == true
            status = waits ? .requiresConnection : .unsatisfied
        }
    }

    /// Whether a request to the address can be tried.
    public var canTry: Bool { path.isUsable }
    /// The bits of SCNetworkReachability.
    public var flags: ReachabilityFlags? { .of(status, path) }
    /// The status in the terms of Alamofire.
    public var modelStatus: ModelStatus { ModelStatus(status, path.interface?.type) }
}
