internal import CarpoolHTTP
internal import CarpoolReachability
internal import CarpoolSession
internal import CarpoolSystem

/// The state of the network for sessions and transport. It is the current state, without hysteresis.
final class NetworkConnectivity: Connectivity {
    private(set) var isOffline = false
    private(set) var losses = 0
    private(set) var changes = 0
    private let manager: NetworkReachabilityManager
    private let transport: CurlTransport
    private let loop: EventLoop
    private var observation: NetworkReachabilityManager.Observation?
    private var observers = ConnectivityObservers()
    /// Whether there are changes that the observers were not notified of.
    private var hasChanges = false
    /// The number of kernel messages at the last notification.
    private var notifiedMessages = 0
    /// Answers since the last evaluation: thousands of requests may ask for a few hosts.
    private var answers: [String: NetworkPath] = [:]
    private var lastRefresh: MonotonicTime?

    /// Failures come in groups; the devices are read once for all within so many milliseconds.
    private static let refreshMilliseconds = 20
    /// The most answers that are kept.
    private static let maximumAnswers = 256

    init(manager: NetworkReachabilityManager, transport: CurlTransport, loop: EventLoop) {
        self.manager = manager
        self.transport = transport
        self.loop = loop
    }

    /// Begins to notify the transport of the state and its changes.
    func start() {
        observation = manager.observe(
            { [unowned self] in networkDidChange($0) }, onEvaluation: { [unowned self] in didLook() })
        notifyTransport(manager.snapshot)
    }

    /// Stops observing.
    func stop() { observation = nil }

    // MARK: Connectivity

    func path(to host: String, isFresh: Bool) -> NetworkPath {
        if isFresh { refresh() }
        if let known = answers[host] { return known }
        let path = look(at: host)
        if observation != nil, answers.count < NetworkConnectivity.maximumAnswers { answers[host] = path }
        return path
    }

    func whenChanged(_ body: @escaping () -> Void) -> Int { observers.add(body) }

    func removeObserver(_ number: Int) { observers.remove(number) }

    // MARK: Looking

    private func refresh() {
        let now = MonotonicTime.read()
        if let lastRefresh, now < lastRefresh.advanced(milliseconds: NetworkConnectivity.refreshMilliseconds) { return }
        lastRefresh = now
        manager.refresh()
    }

    private func look(at host: String) -> NetworkPath {
        let snapshot = manager.snapshot
        guard let literal = HostLiteral(host) else {
            return NetworkConnectivity.isThisMachine(host) ? .here : NetworkPath(snapshot)
        }
        return NetworkPath(manager.lookup(literal.address, zone: literal.zone), in: snapshot)
    }

    /// Names that never leave the machine (RFC 6761, section 6.3).
    private static func isThisMachine(_ host: String) -> Bool { host == "localhost" || host.hasSuffix(".localhost") }

    // MARK: Changes

    private func networkDidChange(_ change: ReachabilityChange) {
        let old = change.previous.snapshot
        let new = change.current.snapshot
        changes += 1
        hasChanges = true
        if change.isLoss || change.removedAddresses.contains(where: { !$0.isLinkLocal }) { losses += 1 }
        notifyTransport(new)
        if old.networkID != new.networkID || old.nameServers.map(\.address) != new.nameServers.map(\.address) {
            transport.expireDNSCache()
        }
    }

    /// The path to one host may have changed although the path to the internet has not.
    private func didLook() {
        answers = [:]
        // Not after an evaluation without a kernel message: a failing request causes an evaluation, and would make the
        // others fail too.
        let messages = manager.statistics.datagrams &+ manager.statistics.resyncs
        guard hasChanges || messages != notifiedMessages else { return }
        hasChanges = false
        notifiedMessages = messages
        loop.forEach(of: observers.numbers) { [weak self] in self?.observers[$0]?() }
    }

    private func notifyTransport(_ snapshot: ReachabilitySnapshot) {
        isOffline = !snapshot.canTry
        // If the interfaces cannot be read, nothing is known of removed ones.
        if !snapshot.interfaces.isEmpty {
            transport.localAddressesDidChange(to: Set(snapshot.localAddresses.map(\.description)))
        }
        var families: AddressFamilies = []
        if snapshot.ipv4.isUsable { families.insert(.ipv4) }
        if snapshot.ipv6.isUsable { families.insert(.ipv6) }
        transport.usableFamiliesDidChange(to: families)
    }
}

/// A host that is an address.
private struct HostLiteral {
    let address: IPAddress
    /// The interface of an address that counts on its link alone (RFC 6874).
    var zone: String?

    /// Reads the host of a URL; `nil` for a name.
    init?(_ host: String) {
        let parts = host.filter { $0 != "[" && $0 != "]" }.split(separator: "%", maxSplits: 1)
        guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
        self.address = address
        guard parts.count > 1 else { return }
        zone = String(parts[1].hasPrefix("25") ? parts[1].dropFirst(2) : parts[1])
    }
}

extension NetworkPath {
    /// The path to this machine itself.
    fileprivate static let here = NetworkPath(.satisfied)

    /// The path to a host with a name, which may be anywhere.
    fileprivate init(_ snapshot: ReachabilitySnapshot) {
        self.init(Status(snapshot.status), reason: snapshot.unsatisfiedReason?.rawValue)
        interface = snapshot.interface?.name
        mayBeNearby = snapshot.interfaces.contains { interface in
            interface.type != .loopback && interface.link.isUsable
                && interface.addresses.contains { $0.scope == .global && $0.isUsable }
        }
        takeSupport(from: snapshot)
    }

    /// The way to an address.
    fileprivate init(_ host: HostReachability, in snapshot: ReachabilitySnapshot) {
        self.init(Status(host.status), reason: host.path.reason?.rawValue)
        interface = host.path.interface?.name
        takeSupport(from: snapshot)
    }

    private mutating func takeSupport(from snapshot: ReachabilitySnapshot) {
        guard snapshot.status != .unknown else { return }
        supportsIPv4 = snapshot.ipv4.isUsable
        supportsIPv6 = snapshot.ipv6.isUsable
        supportsDNS = snapshot.supportsDNS
    }
}

extension NetworkPath.Status {
    fileprivate init(_ status: ReachabilityStatus) {
        switch status {
        case .satisfied: self = .satisfied
        case .unsatisfied: self = .unsatisfied
        case .requiresConnection: self = .requiresConnection
        case .unknown: self = .unknown
        }
    }
}
