internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolReachability
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem
internal import Glibc

/// Everything that the daemon owns, on its one loop: the connections, the sessions and their requests, the pool, the spool.
final class Server {
    let loop: EventLoop
    /// Calls on files and other work that may block.
    let worker: Worker
    /// What is written to files.
    let files: FileStore
    /// Readings of the configuration, one after the other.
    private(set) lazy var reloads = WorkerQueue(worker: worker, share: .process, limit: 16)
    /// The authorities that requests and sessions trust.
    var trustStores = TrustStoreTable()
    let log: Log
    let options: ServerOptions
    let transport: CurlTransport
    let rawStreamPool: RawStreamPool
    let spool: Spool
    let record: RecordWriter
    let publisher: EventPublisher
    /// Knows the network, for the sessions.
    let connectivity: NetworkConnectivity
    /// Whether packets can leave this machine.
    let reachability: ReachabilityService
    /// Remembers what downloads have left to go on with.
    let partials: PartialFileIndex?
    private(set) var dispatcher = Dispatcher(catalogue: Catalogue(methods: []), handlers: [:])
    fileprivate(set) var configuration: ServerConfiguration
    fileprivate(set) var access: AccessPolicy
    var lifecycle = Lifecycle()
    var requests = RequestRegistry()
    var sessions = SessionTable()
    var connections: [Int: Connection] = [:]
    /// Tells the clients that see other files or networks than the daemon.
    private(set) lazy var viewJudge = ViewJudge(owner: access.owner)
    /// Who holds how much of what clients share.
    let connectionQuota = QuotaLedger()
    let subscriptionQuota = QuotaLedger()
    let rawStreamQuota = QuotaLedger()
    let streamReaderQuota = QuotaLedger()
    let sessionQuota = QuotaLedger()
    let sessionMemoryQuota = QuotaLedger()
    var farewells: [ObjectIdentifier: Farewell] = [:]  // refused, not gone yet
    var closingRefused = 0  // sockets of refused peers that a thread closes
    var statistics = ServerStatistics()
    /// What the connections hold of the memory.
    var memory = ConnectionMemory()
    var lastTrim = (turns: 0, wasBurst: false)
    var recordCache = RecordCache()
    /// Requests that are over, of whose many callers some are not answered yet.
    var crowds = 0
    /// Answers about requests that wait for a disk, a serializer or their client.
    var delayedAnswers = 0

    /// The files of a call that names none.
    let noFiles = CallFiles.none
    /// For `Accept-Language`, where neither session nor request says otherwise: the same for everybody, whoever started the daemon.
    let languages = ["en"]
    /// What readers of streams send at once in a turn.
    private(set) lazy var deliveryBudget = DeliveryBudget(loop: loop)
    /// What is asked of clients.
    private(set) lazy var callbacks = CallbackBroker(server: self)
    /// The OpenRPC document, written once: it takes a millisecond and is large.
    private(set) lazy var description = {
        var writer = JSONWriter()
        dispatcher.catalogue.openRPC(version: ServerVersion.text, to: &writer)
        return writer.bytes
    }()

    /// The name of this run: request ids and cursors begin with it.
    let epoch = Epoch.make()
    /// When the daemon came up, in microseconds since 1970.
    let started = WallClock.microseconds()
    /// Called once, when everything is over.
    var onStopped: () -> Void = {}
    /// Whether its end has begun, of which only the removal of the spool is left.
    var hasEnded = false

    /// Ends a daemon that was started on demand and that nobody needs.
    private(set) lazy var idleExit = Timer { [unowned self] in
        log.write(.info, "idle")
        drain(milliseconds: nil)
    }

    private let streamMemory: StreamMemory
    private var lastFeed = 0

    private let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Server.readBufferBytes, alignment: 16)
    private var writer = JSONWriter()

    /// One read takes at most this much from a client.
    private static let readBufferBytes = 65_536
    /// The writer's buffer is kept between replies up to this size.
    private static let keptWriterBytes = 262_144

    init(
        loop: EventLoop, options: ServerOptions, configuration: ServerConfiguration, log: Log,
        work: (any BackgroundWork)? = nil
    ) throws(ServerError) {
        self.loop = loop
        worker = Worker(loop: loop)
        files = FileStore(work: work ?? worker, scheduler: loop, memory: WriteMemory(configuration.limits))
        self.options = options
        self.configuration = configuration
        self.log = log
        access = AccessPolicy(owner: geteuid(), roles: configuration.roles)
        do throws(TransportError) {
            let engine = TransportConfiguration(configuration)
            transport = try CurlTransport(loop: loop, configuration: engine, worker: worker)
            rawStreamPool = try RawStreamPool(loop: loop, configuration: engine, transport: transport)
        } catch {
            throw ServerError(error.description)
        }
        do throws(SystemError) {
            spool = try Spool(directory: options.spoolDirectory, limits: configuration.limits, files: files)
        } catch {
            throw ServerError(error.description)
        }
        record = RecordWriter(spool: spool)
        partials = options.partialsDirectory.map { PartialFileIndex(directory: $0) }
        streamMemory = StreamMemory(
            streamBytes: configuration.limits.streamBytes, totalBytes: configuration.limits.totalStreamBytes)
        publisher = EventPublisher(
            epoch: epoch, owner: access.owner, record: record, loop: loop, limits: configuration.limits)
        reachability = ReachabilityService(loop: loop, settings: configuration.reachability, log: log)
        connectivity = NetworkConnectivity(manager: reachability.manager, transport: transport, loop: loop)
        reachability.onChange = { [unowned self] in publish($0) }
        transport.connectionObserver = publisher
        spool.ownerOfRequest = { ($0.context as? EventSubject)?.client }
        worker.onClosingChange = { [unowned self] in closingDidChange(of: $0) }
        files.shareOfRequest = { Spool.share(of: ($0.context as? EventSubject)?.client) }
        dispatcher = makeDispatcher()
    }

    deinit { readBuffer.deallocate() }

    private func makeDispatcher() -> Dispatcher {
        var handlers = HandlerTable.make(for: self)
        guard options.servesSpecificationExamples else { return Dispatcher(catalogue: .carpool, handlers: handlers) }
        handlers.merge(SpecificationHandlers.table) { own, _ in own }
        let methods = Catalogue.carpool.methods + Catalogue.specification.methods
        return Dispatcher(catalogue: Catalogue(methods: methods), handlers: handlers)
    }

    /// The number of the next reader of a stream.
    func nextFeed() -> Int {
        lastFeed &+= 1
        return lastFeed
    }

    /// Every maximum in force.
    var limits: Limits { configuration.limits }

    // MARK: Buffers that all connections share, since one thread uses them one after the other

    func withReadBuffer<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result { body(readBuffer) }

    /// Lends the one writer; a reply is written and framed before the next is begun.
    func withWriter(_ body: (inout JSONWriter) -> Void) {
        writer.removeAll()
        body(&writer)
        if writer.capacity > Server.keptWriterBytes { writer = JSONWriter() }
    }

    /// Gives back what the writer keeps.
    func forgetWriter() { writer = JSONWriter() }

    // MARK: Sessions
    func makeSession(name: String, of uid: UInt32, _ configuration: SessionConfiguration) -> Session {
        let session = Session(
            name: name, user: uid == access.owner ? nil : uid, configuration: configuration, transport: transport,
            scheduler: loop, spool: spool, files: files, eventMonitor: publisher, streamMemory: streamMemory,
            connectivity: connectivity)
        session.memory = RequestAccounts(server: self)
        return session
    }

    /// The caller's session of that name, `default` if the call names none. Other users' sessions are as if they did not exist.
    func session(_ json: JSON?, of client: any Client) throws(RPCError) -> Session {
        let uid = client.uid
        guard let json, !json.isString("default") else { return standardSession(of: uid) }
        let name = json.string ?? ""
        guard let entry = sessions.entry(name, of: uid) else { throw .sessionNotFound(name) }
        return entry.session
    }

    /// A user's `default` session.
    func standardSession(of uid: UInt32) -> Session {
        sessions.standard(of: uid) {
            var shared = SessionConfiguration()
            shared.languages = languages
            return makeSession(name: SessionTable.standardName, of: uid, shared)
        }
    }

    // MARK: Requests

    /// Makes the request that a call asks for. Nothing has been sent yet, and nothing has happened if it throws.
    func makeRequest(
        _ call: Call, _ files: CallFiles, isKept: Bool, isDetached: Bool
    ) throws(RPCError) -> RequestEntry {
        guard lifecycle.isServing else { throw .draining }
        try checkNetwork(of: call.client)
        let session = try session(call.params["session"], of: call.client)
        let identity = call.client.identity
        if let refusal = requests.refusal(of: identity, limits) { throw .tooManyRequests(refusal) }
        let decoder = decoder(for: call.client, files: files)
        let parameters = try decoder.parameters(call.params, call.parts)
        let heldBytes = parameters.memoryBytes(callBytes: call.messageBytes, sessionFields: session.fieldCount)
        if let refusal = requests.refusal(ofBytes: heldBytes, identity, limits) { throw .tooManyRequestBytes(refusal) }
        let tags = try decoder.tags(call.params[.tags])
        let sequence = requests.nextSequence()
        let request = session.request(parameters, id: requestID(sequence))
        request.context = EventSubject(
            session: session.name, uid: identity.uid, request: request.id, client: identity,
            connection: call.client.number)
        let entry = RequestEntry(
            request: request, client: identity, connection: call.client.number, sequence: sequence,
            cancelsOnDisconnect: call.params["on_disconnect"].map { $0.string == "cancel" } ?? !isDetached,
            isKept: isKept, key: call.params[.key], fingerprint: Fingerprint.ofKeyed(call), tags: tags,
            created: WallClock.microseconds(), callBytes: call.messageBytes)
        entry.clientName = call.client.displayName
        requests.insert(entry)
        statistics.requests &+= 1
        if entry.cancelsOnDisconnect { call.client.resources.dependents[sequence] = entry }
        // What goes on without its client does not keep it.
        let client = entry.cancelsOnDisconnect ? call.client : nil
        request.whenFinished { [unowned self] _ in requestDidFinish(entry, client) }
        return entry
    }

    private lazy var makeRequestID = { [unowned self] in requestID(requests.nextSequence()) }
    private func requestID(_ sequence: Int) -> String { "r_\(epoch)_\(String(sequence, radix: 36))" }

    /// Reads what a call says of a request, or of a session, whose callbacks outlive the connection of the call.
    func decoder(for client: any Client, files: CallFiles, ofSession: Bool = false) -> RequestParametersDecoder {
        let worker = worker.access(for: client.identity.workerShare)
        return RequestParametersDecoder(
            client: client, owner: access.owner, files: files, worker: worker,
            callbacks: ClientCallbacks(
                broker: callbacks, origin: ofSession ? nil : client.number,
                client: client.identity, worker: worker),
            languages: languages, scheduler: loop, connectivity: connectivity,
            makeRequestID: makeRequestID, partials: partials, fileStore: self.files)
    }

    private func requestDidFinish(_ entry: RequestEntry, _ client: (any Client)?) {
        client?.resources.dependents[entry.sequence] = nil
        callbacks.requestDidFinish(entry.request.id)
        drop(requests.finish(entry, at: WallClock.microseconds(), limits), after: entry)
        if entry.isDismissed { spool.release(entry.request.id) }
        leaseRest(of: entry.request.stream)
        if entry.request.error != nil { statistics.failedRequests &+= 1 }
        log.write(.debug, "request finished", Server.fields(of: entry))
        requestsDidChange()
    }

    /// What nobody has read of a stream that is over stays as long as a body would.
    private func leaseRest(of stream: ResponseStream?) {
        guard let stream, stream.holdsBytes else { return }
        loop.arm(Timer { [weak stream] in stream?.discard() }, afterMilliseconds: limits.spoolLeaseMilliseconds)
    }

    private static func fields(of entry: RequestEntry) -> [(StaticString, String)] {
        [
            ("request", entry.request.id), ("client", entry.clientName),
            ("url", Redaction.withoutSecrets(entry.request.parameters.url)),
            ("status", entry.request.response.map { String($0.status) } ?? "-"),
            ("error", entry.request.error?.name ?? "-"),
        ]
    }

    /// Ends a request and forgets it, if it is under way, as soon as its end is told.
    /// - Parameter keepingPartialFile: whether what a download has left stays: its client may have the token, and come back.
    /// - Parameter then: called when the partial file of a request that is over has been removed, if it is.
    func abandon(_ entry: RequestEntry, keepingPartialFile: Bool, then: @escaping () -> Void = {}) {
        entry.request.cancel(producingResumeData: keepingPartialFile)
        if keepingPartialFile { then() } else { entry.request.discardPartialFile(completion: then) }
        dismiss(entry, keepingBody: false)
    }

    /// Forgets a request. The body of one that was performed stays for a while, since its answer may name the file.
    func dismiss(_ entry: RequestEntry, keepingBody: Bool) {
        requests.remove(entry)
        if entry.dueAnswers > 0 { noteMemory(of: entry) }
        if !keepingBody { spool.release(entry.request.id) }
    }

    /// Whether a client may use and read what a client of the same or another user has made. No role opens what is another user's.
    func mayRead(_ owner: ClientIdentity, _ client: any Client) -> Bool { owner.uid == client.uid }

    /// The request that a call names, if the caller may use it.
    func entry(of call: Call) throws(RPCError) -> RequestEntry {
        try entry(call.params["request"]?.string ?? "", for: call.client)
    }

    /// The request that a call wants to end: an administrator may also end what another user has under way.
    func entryToEnd(of call: Call) throws(RPCError) -> RequestEntry {
        let id = call.params["request"]?.string ?? ""
        guard call.client.role == .admin, let entry = requests[id] else { return try entry(id, for: call.client) }
        return entry
    }

    func entry(_ id: String, for client: any Client) throws(RPCError) -> RequestEntry {
        guard let entry = requests[id], mayRead(entry.client, client) else { throw .requestNotFound(id) }
        return entry
    }

    // MARK: Configuration

    /// Reads the configuration again, on the worker. A file that is refused changes nothing. Reloads take effect in the order in which they were
    /// asked for.
    func reload(then: @escaping (Result<ConfigurationReload, ServerError>) -> Void) {
        let path = options.configurationPath
        let reading = { @Sendable () -> Result<ServerConfiguration, ServerError> in
            do throws(ServerError) { return .success(try ServerConfiguration.read(from: path)) } catch {
                return .failure(error)
            }
        }
        do throws(WorkerError) {
            try reloads.run(reading) { [unowned self] in then($0.map(takeOver)) }
        } catch {
            then(.failure(ServerError("cannot read the configuration: \(error)")))
        }
    }

    private func takeOver(_ read: ServerConfiguration) -> ConfigurationReload {
        var new = read
        let names = new.differences(from: configuration)
        var waiting = names.filter { ServerConfiguration.restartOnly.contains($0) }
        if new.roles.isEmpty != configuration.roles.isEmpty { waiting.append("access.uids (mode of the socket)") }
        new.keepWhatNeedsRestart(of: configuration)
        apply(new)
        let reload = ConfigurationReload(
            changed: names.filter { !ServerConfiguration.restartOnly.contains($0) }, waiting: waiting)
        publisher.publish(.daemonConfigReloaded) { reload.writeMembers(to: &$0) }
        return reload
    }
}

extension Server {
    /// Tells those who listen to the stream of events.
    private func publish(_ change: ReachabilityChange) {
        publisher.publish(.reachabilityChanged) { writer in
            ReachabilityWriter(reachability).writeMembers(change, to: &writer)
        }
    }

    private func apply(_ new: ServerConfiguration) {
        configuration = new
        access.roles = new.roles
        reachability.reconfigure(new.reachability)
        log.level = options.logLevel ?? new.logLevel
        spool.limits = new.limits
        publisher.limits = new.limits
        publisher.limitJournal()
        streamMemory.streamBytes = new.limits.streamBytes
        streamMemory.totalBytes = new.limits.totalStreamBytes
        files.memory.fileBytes = new.limits.writeBytesPerFile
        files.memory.totalBytes = new.limits.writeBytes
        // Whoever has another role now, or none, comes in by it again.
        for connection in connections.values where access.role(of: connection.uid) != connection.role {
            connection.closeAfterReply()
        }
        loop.cancel(idleExit)
        armIdleExit()
    }
}

/// What reading the configuration again came to.
struct ConfigurationReload {
    let changed: [String]
    let waiting: [String]

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("changed", changed)
        writer.member("needs_restart", waiting)
    }
}

/// What the daemon has done since it came up.
struct ServerStatistics {
    var connections = 0
    var refusedConnections = 0
    var requests = 0
    var failedRequests = 0
}

/// The name of one run of the daemon: short, and different from the last.
enum Epoch {
    static func make() -> String {
        String((UInt64(bitPattern: WallClock.microseconds()) / 1_000) % 2_176_782_336, radix: 36)
    }
}
