internal import CarpoolReachability
internal import CarpoolSystem

/// Watches the path to one host: its addresses are looked up at most once a minute, their paths after every evaluation
/// of the network.
final class HostWatch {
    private(set) var view: HostView
    private let service: ReachabilityService
    private let user: UInt32
    private let zone: String?
    private var known: [IPAddress]
    private let isName: Bool
    private var looked: MonotonicTime?
    private var network = ""
    private var isLooking = false
    private var isEnded = false
    private let onAddresses: () -> Void
    private lazy var retryTimer = Timer { [weak self] in self?.resolveIfDue() }

    /// How long addresses are kept, in milliseconds.
    private static let keptMilliseconds = 60_000
    /// The time until a name is looked up again that could not be, in milliseconds.
    private static let retryMilliseconds = 2_000

    /// - Parameters:
    ///   - user: the user to whom its look-ups are counted.
    ///   - onAddresses: called when a name's addresses have come.
    init(_ name: String, for user: UInt32, _ service: ReachabilityService, onAddresses: @escaping () -> Void) {
        self.service = service
        self.user = user
        self.onAddresses = onAddresses
        let address = HostView.split(name)
        zone = address?.zone
        known = address.map { [$0.address] } ?? []
        isName = address == nil
        view = HostView(name: name)
        refresh()
    }

    /// Ends it.
    func end() {
        isEnded = true
        service.loop.cancel(retryTimer)
    }

    /// Looks at the ways again.
    func refresh() {
        view.addresses = known.map { service.manager.lookup($0, zone: zone) }
        resolveIfDue()
    }

    private func resolveIfDue() {
        // Without a network a look-up would only wait.
        guard isName, !isLooking, !isEnded, service.manager.snapshot.canTry else { return }
        let snapshot = service.manager.snapshot
        let key = snapshot.networkID + snapshot.nameServers.map { "\($0.address)" }.joined(separator: ",")
        if let looked, key == network, service.loop.now < looked.advanced(milliseconds: HostWatch.keptMilliseconds) {
            return
        }
        network = key
        looked = service.loop.now
        isLooking = true
        let begun = MonotonicTime.read()
        service.resolver.resolve(view.name, for: user) { [weak self] result in self?.take(result, begun) }
    }

    private func take(_ result: Result<[IPAddress], NameResolver.Failure>, _ begun: MonotonicTime) {
        isLooking = false
        guard !isEnded else { return }
        view.lookupMilliseconds = MonotonicTime.read().microseconds(since: begun) / 1_000
        switch result {
        case .success(let addresses):
            known = addresses
            view.failure = nil
        case .failure(let failure):
            known = []
            view.failure = failure
            if !failure.isAboutName {
                looked = nil
                service.loop.arm(retryTimer, afterMilliseconds: HostWatch.retryMilliseconds)
            }
        }
        view.addresses = known.map { service.manager.lookup($0, zone: zone) }
        onAddresses()
    }
}
