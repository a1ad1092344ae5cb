internal import CLinux
public import CarpoolSystem

/// Monitors whether packets can leave this machine, and reports changes.
///
/// The kernel's messages only trigger a new look, as many changes are not announced (routes vanish silently when a
/// link goes down). The state is read again each time, and decided by the route that the kernel would choose. It
/// explains why a request failed and when to retry; it is not a reason not to try.
public final class NetworkReachabilityManager: ReadinessHandler {
    /// The result of ``observe(isSliced:_:onLook:)``.
    public typealias Observation = ReachabilityObservation

    /// Its statistics.
    public private(set) var statistics = ReachabilityStatistics()
    /// Called once if the kernel's messages are not available.
    public var onUnavailable: (SystemError) -> Void = { _ in }

    private let loop: EventLoop
    /// Its configuration.
    public private(set) var configuration: ReachabilityConfiguration
    private var current: ReachabilityReading
    private var interfaces: [Int: NetworkInterface] = [:]
    private var observations: [ReachabilityObservation.Weak] = []
    private let slicedObservers: SlicedObservers
    private var news: NetlinkSocket?
    private var network: (any NetworkView)?
    private var resolverWatch: ResolverFileWatch?
    private var classifier: InterfaceClassifier
    private var causes: ReachabilityCauses = []
    private var firstEvent: MonotonicTime?
    private var isStarted = false
    /// The turn of the loop of the last look.
    private var lookTurn = -1

    /// While it is armed the kernel's messages are not read: a storm of them costs only a few looks. The pause
    /// doubles from one look to the next, so that the second of two related changes is reported as soon as the first.
    private var pauseMilliseconds = NetworkReachabilityManager.shortestPauseMilliseconds
    private lazy var pause = Timer { [unowned self] in resume() }
    private lazy var poll = Timer { [unowned self] in pollDidCome() }

    private static let shortestPauseMilliseconds = 1
    private static let longestPauseMilliseconds = 20
    private static let pollMilliseconds = 10_000
    /// Maximum number of datagrams read at a time; the rest is older than the look that follows.
    private static let datagramsPerDrain = 256
    /// An interface with many virtual functions needs several KiB.
    private static let bufferBytes = 32_768
    /// Maximum number of interfaces whose link is queried at a time.
    private static let freshInterfaces = 16

    /// Creates a manager, which looks at the network with the first query or with ``start()``.
    public init(loop: EventLoop, configuration: ReachabilityConfiguration = ReachabilityConfiguration()) {
        self.loop = loop
        self.configuration = configuration
        classifier = InterfaceClassifier(root: configuration.interfacesPath)
        current = ReachabilityReading(
            sequence: 0, generation: 0, time: loop.now, wallTime: WallClock.microseconds(), snapshot: .unknown)
        slicedObservers = SlicedObservers(loop: loop, current: current)
    }

    // MARK: Asking

    /// The newest reading.
    public var reading: ReachabilityReading {
        start()
        return current
    }

    /// The current state of the network.
    public var snapshot: ReachabilitySnapshot { reading.snapshot }

    /// Whether the kernel's messages are not available, so that the status is unknown.
    public var isBlind: Bool { statistics.source == .poll }

    /// Looks again now, and queries the interfaces' drivers first: after a cable was pulled the kernel may report it
    /// only a second later.
    @discardableResult public func refresh() -> ReachabilityReading {
        start()
        let onPath = current.snapshot.interfaces.filter(\.isOnPath)
        let asked = onPath.isEmpty ? current.snapshot.interfaces.filter { $0.link.isUp && !$0.link.isLoopback } : onPath
        for interface in asked.prefix(NetworkReachabilityManager.freshInterfaces) {
            _ = CLinux_link_detected(interface.name)
        }
        mark(.asked)
        look()
        return current
    }

    /// Looks again now, without querying the drivers.
    public func look() {
        start()
        drain()
        evaluate()
    }

    /// Looks again if the kernel has sent messages since the last look.
    public func lookIfNews() {
        start()
        drain()
        if !causes.isEmpty { evaluate() }
    }

    /// Looks again, unless it has looked in the current turn of the loop.
    func lookOnceInTurn() {
        if lookTurn != loop.turns { look() }
    }

    /// Whether packets to one address can leave, and how: some microseconds, and nothing is sent.
    /// - Parameter zone: the interface of a link-local address, by name or number.
    public func lookup(_ address: IPAddress, zone: String? = nil) -> HostReachability {
        start()
        let interface = zone.flatMap { zone in
            interfaces.values.first { $0.name == zone || String($0.index) == zone }?.index
        }
        guard let network else {
            let path = current.snapshot.canTry ? RoutePath() : .refused(.noRoute)
            return HostReachability(address: address, path: path, isBlind: current.snapshot.status == .unknown)
        }
        guard let answer = try? network.route(to: address, interface: interface) else {
            return HostReachability(address: address, path: RoutePath(), isBlind: true)
        }
        let path = RoutePath.judge(
            answer, isInternet: false, destinationIsLinkLocal: address.isLinkLocal, isBlind ? nil : interfaces)
        return HostReachability(address: address, path: path, isBlind: isBlind)
    }

    /// Calls a closure with every change of the snapshot, also if it is not reportable, for as long as the
    /// observation is held.
    /// - Parameters:
    ///   - isSliced: whether it is called in slices among thousands of others, and not at once.
    ///   - onLook: called after every look, also without a change: the route to one host may have changed.
    public func observe(
        isSliced: Bool = false, _ onChange: @escaping (ReachabilityChange) -> Void, onLook: @escaping () -> Void = {}
    ) -> Observation {
        start()
        let observation = Observation(current, onChange, onLook)
        if isSliced {
            slicedObservers.add(observation)
            return observation
        }
        observations.removeAll { $0.observation == nil }
        observations.append(.init(observation: observation))
        return observation
    }

    // MARK: Running

    /// Starts listening and looks for the first time; does nothing if it is started.
    public func start() {
        guard !isStarted else { return }
        isStarted = true
        if let status = configuration.override {
            statistics.source = .override
            return adopt(.overridden(status))
        }
        do throws(SystemError) {
            // Listening starts before the first look, so that no change is missed.
            news = try NetlinkSocket(
                groups: NetworkReachabilityManager.groups, receiveBufferBytes: configuration.receiveBufferBytes)
            network = try KernelNetwork()
            statistics.source = .rtnetlink
            if let news { loop.setInterest(.readable, for: news.descriptor.raw, handler: self) }
        } catch {
            news = nil
            network = DatagramNetwork()
            statistics.source = .poll
            loop.arm(poll, afterMilliseconds: NetworkReachabilityManager.pollMilliseconds)
            onUnavailable(error)
        }
        resolverWatch = try? ResolverFileWatch(path: configuration.resolverPath, loop: loop) { [unowned self] in
            resolverFileDidChange()
        }
        evaluate()
    }

    /// Stops listening and frees everything except the last reading; the next query starts it again.
    public func stop() {
        isStarted = false
        if let news { loop.forget(news.descriptor.raw) }
        resolverWatch?.close()
        loop.cancel(pause)
        loop.cancel(poll)
        (news, network, resolverWatch) = (nil, nil, nil)
        interfaces = [:]
        causes = []
        firstEvent = nil
    }

    /// Changes the configuration.
    public func reconfigure(_ new: ReachabilityConfiguration) {
        guard new != configuration else { return }
        configuration = new
        classifier = InterfaceClassifier(root: new.interfacesPath)
        guard isStarted else { return }
        stop()
        mark(.configuration)
        start()
    }

    /// The periodic look, called about every half minute in case that the kernel has not announced a change.
    public func tick() {
        guard isStarted, configuration.override == nil else { return }
        resolverWatch?.watchFolders()
        mark(.tick)
        evaluate()
    }

    private static let groups = [
        RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
        RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP,
    ].map(\.rawValue)

    // MARK: Signs

    /// Messages have arrived; called by the loop.
    public func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        // An idle descriptor is reported once more; its messages are read when the pause ends.
        guard !pause.isArmed else { return }
        resume()
    }

    private func resume() {
        drain()
        guard let news else { return }
        if causes.isEmpty {
            pauseMilliseconds = NetworkReachabilityManager.shortestPauseMilliseconds
            loop.setInterest(.readable, for: news.descriptor.raw, handler: self)
        } else {
            evaluate()
            rest(milliseconds: pauseMilliseconds)
            pauseMilliseconds = min(2 * pauseMilliseconds, NetworkReachabilityManager.longestPauseMilliseconds)
        }
    }

    /// Leaves the kernel's messages alone for a moment.
    private func rest(milliseconds: Int) {
        if let news { loop.setInterest([], for: news.descriptor.raw, handler: self) }
        loop.arm(pause, afterMilliseconds: milliseconds)
    }

    private func mark(_ cause: ReachabilityCauses) {
        causes.formUnion(cause)
        if firstEvent == nil { firstEvent = loop.now }
    }

    private func drain() {
        guard let news else { return }
        withUnsafeTemporaryAllocation(byteCount: NetworkReachabilityManager.bufferBytes, alignment: 16) { buffer in
            for _ in 0..<NetworkReachabilityManager.datagramsPerDrain {
                guard let reading = try? news.read(into: buffer) else { return mark(.overflow) }
                switch reading {
                case .empty: return
                case .overflow:
                    statistics.resyncs &+= 1
                    mark(.overflow)
                case .datagram(let count):
                    statistics.datagrams &+= 1
                    RouteMessageParser.forEachType(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                        if let cause = ReachabilityCauses(messageType: $0) { mark(cause) }
                    }
                }
            }
        }
    }

    private func resolverFileDidChange() {
        mark(.dns)
        // A file is often replaced in several steps, so the look is delayed until the last of them.
        let milliseconds = NetworkReachabilityManager.longestPauseMilliseconds
        if news != nil { rest(milliseconds: milliseconds) } else { loop.arm(poll, afterMilliseconds: milliseconds) }
    }

    private func pollDidCome() {
        loop.arm(poll, afterMilliseconds: NetworkReachabilityManager.pollMilliseconds)
        mark(.tick)
        evaluate()
    }

    // MARK: Looking

    private func evaluate() {
        guard let network else { return clearSigns() }
        statistics.evaluations &+= 1
        lookTurn = loop.turns
        if let snapshot = try? look(at: network) { return adopt(snapshot) }
        statistics.failures &+= 1
        // The socket may hold half an answer, so it is replaced.
        guard !isBlind, let another = try? KernelNetwork() else { return clearSigns() }
        self.network = another
        if let snapshot = try? look(at: another) { adopt(snapshot) } else { clearSigns() }
    }

    private func look(at network: any NetworkView) throws(SystemError) -> ReachabilitySnapshot {
        var observation = NetworkObservation()
        (observation.links, observation.addresses) = try network.interfaces()
        observation.types = classifier.types(of: observation.links)
        for sentinel in configuration.sentinels {
            let answer = try network.route(to: sentinel, interface: nil)
            observation.answers[sentinel.family, default: []].append(answer)
        }
        for server in ResolverFile.nameServers(at: configuration.resolverPath) {
            observation.nameServers.append((server, try network.route(to: server, interface: nil)))
        }
        observation.expensivePatterns = configuration.expensiveInterfaces
        observation.constrainedPatterns = configuration.constrainedInterfaces
        observation.isBlind = isBlind
        interfaces = observation.interfacesByIndex()
        return observation.evaluate(interfaces)
    }

    private func adopt(_ snapshot: ReachabilitySnapshot) {
        let now = MonotonicTime.read()
        let old = current
        let isChange = ReachabilityDifference(old.snapshot, snapshot).level != nil
        current = ReachabilityReading(
            sequence: old.sequence &+ (isChange ? 1 : 0), generation: old.generation &+ (causes.isNews ? 1 : 0),
            time: now, wallTime: WallClock.microseconds(), snapshot: snapshot)
        let change = ReachabilityChange(from: old, to: current, causes: causes, firstEvent: firstEvent ?? now)
        clearSigns()
        if isChange { statistics.changes &+= 1 }
        if snapshot != old.snapshot {
            for observer in observations { observer.observation?.onChange(change) }
        }
        for observer in observations { observer.observation?.onLook() }
        slicedObservers.didLook(current, snapshot != old.snapshot ? change : nil)
    }

    private func clearSigns() {
        causes = []
        firstEvent = nil
    }
}
