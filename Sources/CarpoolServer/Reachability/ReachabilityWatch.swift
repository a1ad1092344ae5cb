internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolReachability
internal import CarpoolSystem

/// One `reachability.watch` of one connection. Nothing queues up for a client that does not read: it gets the newest
/// state when it does.
final class ReachabilityWatch {
    let id: String
    /// Its share of the quota of subscriptions, until it ends.
    var ticket: QuotaLedger.Ticket?
    private let service: ReachabilityService
    private unowned let sink: any NotificationSink
    private let settings: Debouncer.Settings
    /// The current cursor.
    private let cursor: () -> String
    private var listener: ReachabilityListener?
    private var observation: NetworkReachabilityManager.Observation?
    private var hosts: [HostWatch] = []
    /// The hosts as the client knows them.
    private var sentHosts: [[HostReachability]] = []
    /// Loss of a host is reported after the debounce interval.
    private lazy var hostTimer = Timer { [weak self] in self?.hostsDidChange() }
    /// The last reading that was sent.
    private var sent: ReachabilityReading
    /// The change that waits to be sent.
    private var pending: ReachabilityChange?
    private var isHostPending = false
    /// How many changes were skipped since something was sent.
    private var passedOver = 0
    private var isEnded = false

    /// The most hosts of one watch: each is looked up again after every change.
    static let maximumHosts = 16

    init(
        id: String, _ service: ReachabilityService, sink: any NotificationSink, uid: UInt32,
        settings: Debouncer.Settings,
        hosts: [String], cursor: @escaping () -> String
    ) {
        self.id = id
        self.service = service
        self.sink = sink
        self.settings = settings
        self.cursor = cursor
        sent = service.manager.reading
        listener = ReachabilityListener(
            service.manager, loop: service.loop, settings: settings, isSliced: true
        ) { [weak self] in self?.take($0) }
        guard !hosts.isEmpty else { return }
        self.hosts = hosts.map { name in
            HostWatch(name, for: uid, service) { [weak self] in self?.hostsDidChange() }
        }
        sentHosts = self.hosts.map(\.view.addresses)
        observation = service.manager.observe(
            isSliced: true, { _ in }, onEvaluation: { [weak self] in self?.refreshHosts() })
    }

    /// Writes the members of the call's answer.
    func writeMembers(to writer: inout JSONWriter) {
        writer.member("sub", id)
        writer.member("cursor", cursor())
        writer.key("reachability")
        self.writer.write(sent, to: &writer)
        if !hosts.isEmpty { self.writer.write(hosts.map(\.view), to: &writer) }
    }

    /// Ends it; nothing is sent any more.
    func end() {
        ticket = nil
        isEnded = true
        listener?.stop()
        observation = nil
        service.loop.cancel(hostTimer)
        for host in hosts { host.end() }
    }

    private var writer: ReachabilityWriter {
        ReachabilityWriter(service, interfaceBytes: max(0, sink.recordBytes / 2))
    }

    // MARK: Changes

    private func take(_ change: ReachabilityChange) {
        if pending != nil { passedOver += 1 }
        pending = ReachabilityChange(
            from: sent, to: change.current, causes: change.causes.union(pending?.causes ?? []),
            firstEvent: change.firstEvent)
        // The hosts' state belongs to the change.
        for host in hosts { host.refresh() }
        noteHosts()
        send()
    }

    private func refreshHosts() {
        for host in hosts { host.refresh() }
        let isLoss = zip(hosts, sentHosts).contains { host, reported in
            reported.contains(where: \.canTry) && !host.view.addresses.contains(where: \.canTry)
        }
        if !isLoss {
            hostsDidChange()
        } else if !hostTimer.isArmed {
            service.loop.arm(hostTimer, afterMilliseconds: settings.lostAfterMilliseconds)
        }
    }

    private func hostsDidChange() {
        guard !isEnded else { return }
        if noteHosts() { passedOver += 1 }
        send()
    }

    /// Updates the hosts' state. Returns whether an earlier change of it has not been sent.
    @discardableResult private func noteHosts() -> Bool {
        service.loop.cancel(hostTimer)
        let current = hosts.map(\.view.addresses)
        guard current != sentHosts else { return false }
        sentHosts = current
        defer { isHostPending = true }
        return isHostPending
    }

    // MARK: Sending

    /// Sends the waiting change, if the client has read everything so far.
    func send() {
        guard !isEnded, sink.isDrained, pending != nil || isHostPending else { return }
        let reading = listener?.reported ?? sent
        let change =
            pending ?? ReachabilityChange(from: sent, to: reading, causes: .route, firstEvent: reading.time)
        let hosts = isHostPending ? hosts.map(\.view) : nil
        let lagged = passedOver
        sent = change.current
        (pending, isHostPending, passedOver) = (nil, false, 0)
        sink.send(notification: { writer in
            Notification.begin("event", to: &writer)
            writer.member("sub", id)
            writer.member("cursor", cursor())
            writer.member("time", time: WallClock.microseconds())
            writer.member("type", static: EventType.reachabilityChanged.name)
            writer.key("data")
            writer.beginObject()
            self.writer.writeMembers(change, hosts: hosts, to: &writer)
            if lagged > 0 { writer.member("lagged", lagged) }
            writer.endObject()
            writer.endObject()
            writer.endObject()
        })
    }
}
