internal import CarpoolJSON
internal import CarpoolReachability
internal import CarpoolSystem

/// The daemon's view of the network, and its observers.
final class ReachabilityService {
    let manager: NetworkReachabilityManager
    let resolver: NameResolver
    let loop: EventLoop
    private(set) var settings: ReachabilitySettings
    /// Called with the changes that are published as `reachability.changed`.
    var onChange: (ReachabilityChange) -> Void = { _ in }
    /// The newest encoded reading.
    var encoded: EncodedReading?
    private var stream: ReachabilityListener?
    private var lastRefresh = MonotonicTime(nanoseconds: 0)
    private static let refreshMilliseconds = 20
    /// Live watches of all clients.
    private(set) var watchCount = 0

    init(loop: EventLoop, settings: ReachabilitySettings, log: Log) {
        self.loop = loop
        self.settings = settings
        manager = NetworkReachabilityManager(loop: loop, configuration: settings.manager)
        resolver = NameResolver(loop: loop)
        manager.onUnavailable = { error in
            log.write(.warning, "the state of the network cannot be observed", [("error", error.description)])
        }
    }

    /// Begins to observe the network, once the daemon serves.
    func start() { listen() }

    /// The periodic evaluation.
    func tick() { manager.tick() }

    /// An evaluation that a client has asked for. The devices are read at most every 20 ms, since that takes up to
    /// milliseconds.
    func freshReading() -> ReachabilityReading {
        if loop.now < lastRefresh.advanced(milliseconds: ReachabilityService.refreshMilliseconds) {
            manager.evaluateIfNotified()
        } else {
            lastRefresh = loop.now
            manager.refresh()
        }
        return manager.reading
    }

    /// Closes the kernel's sockets.
    func stop() {
        stream?.stop()
        stream = nil
        manager.stop()
    }

    /// Sets another configuration.
    func reconfigure(_ new: ReachabilitySettings) {
        encoded = nil
        let isNewListener = new.listener != settings.listener
        settings = new
        manager.reconfigure(new.manager)
        if isNewListener, stream != nil { listen() }
    }

    private func listen() {
        stream?.stop()
        var settings = settings.listener
        // Subscribers see the level of each change and can filter by it.
        settings.level = .minor
        stream = ReachabilityListener(manager, loop: loop, settings: settings) { [unowned self] in onChange($0) }
    }

    func watchDidBegin() { watchCount += 1 }
    func watchDidEnd() { watchCount -= 1 }

    /// The counters, for `daemon.stats`.
    func writeStatistics(to writer: inout JSONWriter) {
        let statistics = manager.statistics
        writer.beginObject()
        writer.member("watches", watchCount)
        writer.member("evaluations", statistics.evaluations)
        writer.member("changes", statistics.changes)
        writer.member("datagrams", statistics.datagrams)
        writer.member("resyncs", statistics.resyncs)
        writer.member("failures", statistics.failures)
        writer.endObject()
    }
}
