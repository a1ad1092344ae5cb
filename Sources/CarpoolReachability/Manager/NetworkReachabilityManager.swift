internal import CLinux
public import CarpoolSystem

/// Monitors whether packets can leave this machine, and reports changes.
///
/// The kernel's messages only trigger an evaluation, as many changes are not announced (routes vanish silently when a
/// link goes down). Each evaluation reads the whole state again, and depends on the route that the kernel would choose.
/// It explains why a request failed and when to retry; it is not a reason not to try.
public final class NetworkReachabilityManager: ReadinessHandler {
    /// The result of ``observe(isSliced:_:onEvaluation:)``.
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
    private var notifications: NetlinkSocket?
    private var network: (any NetworkView)?
    private var resolverWatch: ResolverFileWatch?
    private var classifier: InterfaceClassifier
    private var causes: ReachabilityCauses = []
    private var firstEvent: MonotonicTime?
    private var isStarted = false
    /// Whether something is missing for a ``Shortage``: then it is started again soon.
    private var isIncomplete = false
    /// The turn of the loop of the last evaluation.
    private var evaluationTurn = -1

    /// The time in which the kernel's messages are not read after an evaluation, so that many messages cause few
    /// evaluations. It doubles from one evaluation to the next, so that the second of two related changes is reported
    /// as soon as the first.
    private var pauseMilliseconds = NetworkReachabilityManager.shortestPauseMilliseconds
    private lazy var pause = Timer { [unowned self] in resume() }
    private lazy var poll = Timer { [unowned self] in pollDidCome() }

    private static let shortestPauseMilliseconds = 1
    private static let longestPauseMilliseconds = 20
    private static let pollMilliseconds = 10_000
    private static let incompleteMilliseconds = 1_000
    /// Maximum number of datagrams read at a time; the rest is older than the evaluation that follows.
    private static let datagramsPerRead = 256
    /// The size of the buffer for a datagram: an interface with many virtual functions needs several KiB.
    private static let bufferBytes = 32_768
    /// Maximum number of interfaces whose link is queried at a time.
    private static let freshInterfaces = 16

    /// Creates a manager, which first evaluates the network with the first query or with ``start()``.
    public init(loop: EventLoop, configuration: ReachabilityConfiguration = ReachabilityConfiguration()) {
        self.loop = loop
        self.configuration = configuration
        classifier = InterfaceClassifier(root: configuration.interfacesPath)
        current = ReachabilityReading(
            sequence: 0, generation: 0, time: loop.now, wallTime: WallClock.microseconds(), snapshot: .unknown)
        slicedObservers = SlicedObservers(loop: loop, current: current)
    }

    // MARK: Queries

    /// The newest reading.
    public var reading: ReachabilityReading {
        start()
        return current
    }

    /// The current state of the network.
    public var snapshot: ReachabilitySnapshot { reading.snapshot }

    /// Whether the kernel's messages are not available, so that the status is unknown.
    public var hasUnknownInterfaces: Bool { statistics.source == .poll }

    /// Evaluates the network now, and queries the interfaces' drivers first: after a cable was pulled the kernel may
    /// report it only a second later.
    @discardableResult public func refresh() -> ReachabilityReading {
        start()
        let onPath = current.snapshot.interfaces.filter(\.isOnPath)
        let asked = onPath.isEmpty ? current.snapshot.interfaces.filter { $0.link.isUp && !$0.link.isLoopback } : onPath
        for interface in asked.prefix(NetworkReachabilityManager.freshInterfaces) {
            _ = CLinux_link_detected(interface.name)
        }
        addCause(.asked)
        evaluateNow()
        return current
    }

    /// Evaluates the network now, without querying the drivers.
    public func evaluateNow() {
        start()
        readNotifications()
        evaluate()
    }

    /// Evaluates the network if the kernel has sent messages since the last evaluation.
    public func evaluateIfNotified() {
        start()
        readNotifications()
        if !causes.isEmpty { evaluate() }
    }

    /// Evaluates the network, unless it was evaluated in the current turn of the loop.
    func evaluateOncePerTurn() {
        if evaluationTurn != loop.turns { evaluateNow() }
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
            return HostReachability(
                address: address, path: path, hasUnknownInterfaces: current.snapshot.status == .unknown)
        }
        guard let answer = try? network.route(to: address, interface: interface) else {
            return HostReachability(address: address, path: RoutePath(), hasUnknownInterfaces: true)
        }
        let path = RoutePath.evaluate(
            answer, isInternet: false, destinationIsLinkLocal: address.isLinkLocal,
            hasUnknownInterfaces ? nil : interfaces)
        return HostReachability(address: address, path: path, hasUnknownInterfaces: hasUnknownInterfaces)
    }

    /// Calls a closure with every change of the snapshot, also if it is not reportable, for as long as the
    /// observation is held.
    /// - Parameters:
    ///   - isSliced: whether it is called in slices among thousands of others, and not at once.
    ///   - onEvaluation: called after every evaluation, also without a change: the route to one host may have changed.
    public func observe(
        isSliced: Bool = false, _ onChange: @escaping (ReachabilityChange) -> Void,
        onEvaluation: @escaping () -> Void = {}
    ) -> Observation {
        start()
        let observation = Observation(current, onChange, onEvaluation)
        if isSliced {
            slicedObservers.add(observation)
            return observation
        }
        observations.removeAll { $0.observation == nil }
        observations.append(.init(observation: observation))
        return observation
    }

    // MARK: Running

    /// Starts listening and evaluates the network for the first time; does nothing if it is started.
    public func start() {
        guard !isStarted else { return }
        isStarted = true
        isIncomplete = false
        let shortages = Shortage.count
        if let status = configuration.override {
            statistics.source = .override
            return adopt(.overridden(status))
        }
        do throws(SystemError) {
            // Listening starts before the first evaluation, so that no change is missed.
            notifications = try NetlinkSocket(
                groups: NetworkReachabilityManager.groups, receiveBufferBytes: configuration.receiveBufferBytes)
            network = try KernelNetwork()
            statistics.source = .rtnetlink
            if let notifications { loop.setInterest(.readable, for: notifications.descriptor.raw, handler: self) }
        } catch {
            notifications = nil
            network = DatagramNetwork()
            statistics.source = .poll
            loop.arm(poll, afterMilliseconds: NetworkReachabilityManager.pollMilliseconds)
            if !error.isShortage { onUnavailable(error) }
        }
        resolverWatch = try? ResolverFileWatch(path: configuration.resolverPath, loop: loop) { [unowned self] in
            resolverFileDidChange()
        }
        evaluate()
        if Shortage.count != shortages { completeSoon() }
    }

    private func completeSoon() {
        isIncomplete = true
        loop.arm(poll, afterMilliseconds: NetworkReachabilityManager.incompleteMilliseconds)
    }

    /// Stops listening and frees everything except the last reading; the next query starts it again.
    public func stop() {
        isStarted = false
        if let notifications { loop.forget(notifications.descriptor.raw) }
        resolverWatch?.close()
        loop.cancel(pause)
        loop.cancel(poll)
        (notifications, network, resolverWatch) = (nil, nil, nil)
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
        addCause(.configuration)
        start()
    }

    /// Evaluates the network. Called about every half minute, in case that the kernel has not announced a change.
    public func tick() {
        guard isStarted, configuration.override == nil else { return }
        resolverWatch?.watchFolders()
        addCause(.tick)
        evaluate()
    }

    private static let groups = [
        RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
        RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP,
    ].map(\.rawValue)

    // MARK: Notifications

    /// Messages have arrived; called by the loop.
    public func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        // An idle descriptor is reported once more; its messages are read when the pause ends.
        guard !pause.isArmed else { return }
        resume()
    }

    private func resume() {
        readNotifications()
        guard let notifications else { return }
        if causes.isEmpty {
            pauseMilliseconds = NetworkReachabilityManager.shortestPauseMilliseconds
            loop.setInterest(.readable, for: notifications.descriptor.raw, handler: self)
        } else {
            evaluate()
            pauseReading(milliseconds: pauseMilliseconds)
            pauseMilliseconds = min(2 * pauseMilliseconds, NetworkReachabilityManager.longestPauseMilliseconds)
        }
    }

    /// Stops reading the kernel's messages for a time.
    private func pauseReading(milliseconds: Int) {
        if let notifications { loop.setInterest([], for: notifications.descriptor.raw, handler: self) }
        loop.arm(pause, afterMilliseconds: milliseconds)
    }

    private func addCause(_ cause: ReachabilityCauses) {
        causes.formUnion(cause)
        if firstEvent == nil { firstEvent = loop.now }
    }

    private func readNotifications() {
        guard let notifications else { return }
        withUnsafeTemporaryAllocation(byteCount: NetworkReachabilityManager.bufferBytes, alignment: 16) { buffer in
            for _ in 0..<NetworkReachabilityManager.datagramsPerRead {
                guard let reading = try? notifications.read(into: buffer) else { return addCause(.overflow) }
                switch reading {
                case .empty: return
                case .overflow:
                    statistics.resyncs += 1
                    addCause(.overflow)
                case .datagram(let count):
                    statistics.datagrams += 1
                    RouteMessageParser.forEachType(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                        if let cause = ReachabilityCauses(messageType: $0) { addCause(cause) }
                    }
                }
            }
        }
    }

    private func resolverFileDidChange() {
        addCause(.dns)
        // A file is often replaced in several steps, so the evaluation is delayed until the last of them.
        let milliseconds = NetworkReachabilityManager.longestPauseMilliseconds
        if notifications != nil {
            pauseReading(milliseconds: milliseconds)
        } else {
            loop.arm(poll, afterMilliseconds: milliseconds)
        }
    }

    private func pollDidCome() {
        if isIncomplete {
            stop()
            return start()
        }
        loop.arm(poll, afterMilliseconds: NetworkReachabilityManager.pollMilliseconds)
        addCause(.tick)
        evaluate()
    }

    // MARK: Evaluation

    private func evaluate() {
        guard let network else { return clearCauses() }
        let shortages = Shortage.count
        statistics.evaluations += 1
        evaluationTurn = loop.turns
        if let snapshot = try? readSnapshot(from: network) { return adopt(snapshot) }
        statistics.failures += 1
        if Shortage.count != shortages { completeSoon() }
        // The socket may hold half an answer, so it is replaced.
        guard !hasUnknownInterfaces, let another = try? KernelNetwork() else { return clearCauses() }
        self.network = another
        if let snapshot = try? readSnapshot(from: another) { adopt(snapshot) } else { clearCauses() }
    }

    private func readSnapshot(from network: any NetworkView) throws(SystemError) -> ReachabilitySnapshot {
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
        observation.hasUnknownInterfaces = hasUnknownInterfaces
        interfaces = observation.interfacesByIndex()
        return observation.evaluate(interfaces)
    }

    private func adopt(_ snapshot: ReachabilitySnapshot) {
        let now = MonotonicTime.read()
        let old = current
        let isChange = ReachabilityDifference(old.snapshot, snapshot).level != nil
        current = ReachabilityReading(
            sequence: old.sequence &+ (isChange ? 1 : 0), generation: old.generation &+ (causes.hasChangeCause ? 1 : 0),
            time: now, wallTime: WallClock.microseconds(), snapshot: snapshot)
        let change = ReachabilityChange(from: old, to: current, causes: causes, firstEvent: firstEvent ?? now)
        clearCauses()
        if isChange { statistics.changes += 1 }
        if snapshot != old.snapshot {
            for observer in observations { observer.observation?.onChange(change) }
        }
        for observer in observations { observer.observation?.onEvaluation() }
        slicedObservers.didEvaluate(current, snapshot != old.snapshot ? change : nil)
    }

    private func clearCauses() {
        causes = []
        firstEvent = nil
    }
}
