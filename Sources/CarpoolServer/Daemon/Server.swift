internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolReachability
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem
internal import Glibc

/// The daemon's composition root: makes all services, connects them, and owns them. Everything runs on its one loop.
final class Server {
    let loop: EventLoop
    /// Calls on files and other work that may block.
    let worker: Worker
    /// Writes files in the background.
    let files: FileStore
    let log: Log
    let options: ServerOptions
    let configuration: LiveConfiguration
    /// Reloads of the configuration, one after the other.
    let reloads = ReloadQueue()
    let transport: CurlTransport
    let spool: Spool
    let publisher: EventPublisher
    /// Whether packets can leave this machine.
    let reachability: ReachabilityService
    /// Remembers the partial files of downloads.
    let partials: PartialFileIndex?
    /// Sends callback questions to clients.
    let callbacks: CallbackBroker
    let sessions: SessionService
    let requests: RequestService
    let streams: StreamService
    /// The memory that connections use.
    let memory = ConnectionMemory()
    let connections: ConnectionTable
    private let connectionServices: ConnectionServices
    let identity: DaemonIdentity
    var lifecycle = Lifecycle()
    var lastTrim = (turns: 0, wasBurst: false)

    /// The OpenRPC document, written once: it takes a millisecond and is large.
    private(set) lazy var description = {
        var writer = JSONWriter()
        dispatcher.catalogue.openRPC(version: ServerVersion.text, to: &writer)
        return writer.bytes
    }()

    /// The services that the handlers are made of.
    private(set) lazy var services = Services(
        loop: loop, worker: worker, log: log, options: options, configuration: configuration, transport: transport,
        spool: spool, publisher: publisher, reachability: reachability, callbacks: callbacks,
        callFiles: CallFileService(
            loop: loop,
            worker: worker, files: files, configuration: configuration, pendingAnswers: requests.pendingAnswers),
        sessions: sessions,
        requests: requests,
        streams: streams, subscriptions: SubscriptionService(publisher: publisher, configuration: configuration),
        identity: identity, connections: connections, control: self, document: { [unowned self] in description })

    /// Makes the sessions that the configuration declares.
    private(set) lazy var declared = DeclaredSessionService(
        sessions: sessions, requests: requests, callFiles: services.callFiles, owner: configuration.access.owner,
        loop: loop)

    /// Called once, when everything is over.
    var onStopped: () -> Void = {}
    /// Whether the daemon is ending, and only the spool is left to be removed.
    var hasEnded = false

    /// Ends a daemon that was started on demand and is no longer needed.
    private(set) lazy var idleExit = Timer { [unowned self] in
        log.write(.info, "idle")
        drain(milliseconds: nil)
    }

    init(
        loop: EventLoop, options: ServerOptions, configuration: ServerConfiguration, log: Log,
        work: (any BackgroundWork)? = nil
    ) throws(ServerError) {
        self.loop = loop
        self.options = options
        self.log = log
        let live = LiveConfiguration(configuration, owner: geteuid())
        self.configuration = live
        identity = DaemonIdentity(epoch: Epoch.make(), started: WallClock.microseconds())
        worker = Worker(loop: loop, keepsThread: true)
        files = FileStore(work: work ?? worker, scheduler: loop, memory: WriteMemory(configuration.limits))
        let raw: RawStreamPool
        (transport, raw) = try Server.makeTransport(configuration, loop, worker)
        spool = try Server.makeSpool(options, configuration, files)
        let record = RecordWriter(spool: spool)
        partials = options.partialsDirectory.map { PartialFileIndex(directory: $0) }
        publisher = EventPublisher(
            epoch: identity.epoch, owner: live.access.owner, record: record, loop: loop, limits: configuration.limits)
        reachability = ReachabilityService(loop: loop, settings: configuration.reachability, log: log)
        let connectivity = NetworkConnectivity(manager: reachability.manager, transport: transport, loop: loop)
        callbacks = CallbackBroker(record: record, loop: loop, log: log, configuration: live)
        let cache = CacheService(options, loop, worker, publisher, log, live)
        sessions = SessionService(
            transport: cache.transport(to: transport), loop: loop, spool: spool, files: files, publisher: publisher,
            connectivity: connectivity, cookies: CookieService(options, loop, worker, log, live), cache: cache)
        let decoders = ParametersDecoderFactory(
            worker: worker, owner: live.access.owner, callbacks: callbacks, loop: loop, connectivity: connectivity,
            partials: partials, files: files)
        requests = RequestService(
            sessions: sessions, configuration: live, callbacks: callbacks, decoders: decoders, memory: memory,
            record: record, loop: loop, log: log, epoch: identity.epoch)
        streams = StreamService(loop: loop, rawStreamPool: raw)
        connectionServices = ConnectionServices(
            loop: loop, worker: worker, configuration: live, publisher: publisher, reachability: reachability,
            callbacks: callbacks, requests: requests, memory: memory)
        connections = ConnectionTable(services: connectionServices, spool: spool, log: log)
        connect()
        try declareSessions()
    }

    private static func makeTransport(
        _ configuration: ServerConfiguration, _ loop: EventLoop, _ worker: Worker
    ) throws(ServerError) -> (CurlTransport, RawStreamPool) {
        do throws(TransportError) {
            let engine = TransportConfiguration(configuration)
            let transport = try CurlTransport(loop: loop, configuration: engine, worker: worker)
            return (transport, try RawStreamPool(loop: loop, configuration: engine, transport: transport))
        } catch {
            throw ServerError(error.description)
        }
    }

    private static func makeSpool(
        _ options: ServerOptions, _ configuration: ServerConfiguration, _ files: FileStore
    ) throws(ServerError) -> Spool {
        do throws(SystemError) {
            return try Spool(directory: options.spoolDirectory, limits: configuration.limits, files: files)
        } catch {
            throw ServerError(error.description)
        }
    }

    /// Connects the services, and makes the handlers.
    private func connect() {
        sessions.memory = RequestAccounts(requests)
        requests.isServing = { [unowned self] in lifecycle.isServing }
        requests.onFinish = { [unowned self] in requestsDidChange() }
        connections.didChange = { [unowned self] in
            endIfStopped()
            armIdleExit()
        }
        reachability.onChange = { [unowned self] in publish($0) }
        transport.connectionObserver = publisher
        spool.clientOfOwner = { ($0.context as? EventSubject)?.client }
        files.shareOfRequest = { Spool.share(of: ($0.context as? EventSubject)?.client) }
        connectionServices.dispatcher = makeDispatcher()
        let shortages = ShortageLog(log)
        loop.onShortage = { [unowned loop] in shortages.note(at: loop.now) }
    }

    private func makeDispatcher() -> Dispatcher {
        var handlers = HandlerTable.make(services)
        guard options.servesSpecificationExamples else { return Dispatcher(catalogue: .carpool, handlers: handlers) }
        handlers.merge(SpecificationHandlers.table) { own, _ in own }
        let methods = Catalogue.carpool.methods + Catalogue.specification.methods
        return Dispatcher(catalogue: Catalogue(methods: methods), handlers: handlers)
    }

    var dispatcher: Dispatcher { connectionServices.dispatcher }
    /// The maxima in force.
    var limits: Limits { configuration.limits }
    /// The name of this run: request ids and cursors begin with it.
    var epoch: String { identity.epoch }

    /// Publishes a change of the network in the stream of events.
    private func publish(_ change: ReachabilityChange) {
        publisher.publish(.reachabilityChanged) { writer in
            ReachabilityWriter(reachability).writeMembers(change, to: &writer)
        }
    }
}
