internal import CarpoolHTTP
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// Makes, finds and dismisses requests.
final class RequestService {
    var registry = RequestRegistry()
    /// Answers that wait for a disk, a serializer or their client.
    let pendingAnswers = PendingAnswers()
    let record: RecordWriter
    let spool: Spool
    let loop: EventLoop
    let log: Log
    /// What the connections hold of the memory; the records of dismissed requests whose answers are due count too.
    let memory: ConnectionMemory
    var recordCache = RecordCache()
    /// How many requests were made, and how many of them have failed.
    private(set) var made = 0
    private(set) var failed = 0
    /// Whether new requests are taken.
    var isServing: () -> Bool = { true }
    /// Called when a request is over.
    var onFinish: () -> Void = {}

    let sessions: SessionService
    private let configuration: LiveConfiguration
    private let callbacks: CallbackBroker
    private let decoders: ParametersDecoderFactory
    private let epoch: String

    init(
        sessions: SessionService, configuration: LiveConfiguration, callbacks: CallbackBroker,
        decoders: ParametersDecoderFactory, memory: ConnectionMemory, record: RecordWriter, loop: EventLoop, log: Log,
        epoch: String
    ) {
        self.sessions = sessions
        self.configuration = configuration
        self.callbacks = callbacks
        self.decoders = decoders
        self.memory = memory
        self.record = record
        spool = record.spool
        self.loop = loop
        self.log = log
        self.epoch = epoch
    }

    /// The maxima in force.
    var limits: Limits { configuration.limits }

    // MARK: Making

    /// Makes the request that a call asks for. Nothing has been sent yet, and nothing has happened if it throws.
    func make(_ call: Call, _ files: CallFiles, isKept: Bool, isDetached: Bool) throws(RPCError) -> RequestEntry {
        guard isServing() else { throw .draining }
        try configuration.checkNetwork(of: call.client)
        let session = try sessions.session(call.params["session"], of: call.client)
        let identity = call.client.identity
        if let refusal = registry.refusal(of: identity, limits) { throw .tooManyRequests(refusal) }
        let decoder = decoder(for: call.client, files: files)
        let parameters = try decoder.parameters(call.params, call.parts)
        // Without a cache the origin would be asked, which the caller may not want.
        if let wanted = parameters.caching, wanted.policy != .noStore, session.standardCacheUse == nil {
            // Turned off for all, it stores nothing; only a request that must not reach the origin cannot be made then.
            guard sessions.cache.isOff else { throw .cacheUnavailable(session: session.name) }
            if wanted.policy == .returnCacheDontLoad { throw .cacheIsOff(session: session.name) }
        }
        let cancelsOnDisconnect = call.params["on_disconnect"].map { $0.string == "cancel" } ?? !isDetached
        if !cancelsOnDisconnect { try checkDetached(parameters, call) }
        let callBytes = call.messageBytes &+ files.passwordBytes
        let heldBytes = parameters.memoryBytes(callBytes: callBytes, sessionFields: session.fieldCount)
        if let refusal = registry.refusal(ofBytes: heldBytes, identity, limits) { throw .tooManyRequestBytes(refusal) }
        let tags = try decoder.tags(call.params[.tags])
        let sequence = registry.nextSequence()
        let request = session.request(consume parameters, id: id(sequence))
        request.context = EventSubject(
            session: session.name, uid: identity.uid, request: request.id, client: identity,
            connection: call.client.number)
        let entry = RequestEntry(
            request: request, client: identity, connection: call.client.number, sequence: sequence,
            cancelsOnDisconnect: cancelsOnDisconnect,
            isKept: isKept, key: call.params[.key], fingerprint: Fingerprint.parameterHash(of: call), tags: tags,
            created: WallClock.microseconds(), callBytes: callBytes)
        entry.clientName = call.client.displayName
        registry.insert(entry)
        made += 1
        if entry.cancelsOnDisconnect { call.client.resources.dependents[sequence] = entry }
        // A request that outlives its client does not retain it.
        let client = entry.cancelsOnDisconnect ? call.client : nil
        request.whenFinished { [unowned self] _ in didFinish(entry, client) }
        return entry
    }

    /// The time limit of a request that a call is about to make.
    func limit(of call: Call) throws(RPCError) -> CallFileService.Limit {
        let session = try sessions.session(call.params["session"], of: call.client)
        let usual = session.configuration.options.resourceTimeoutMilliseconds.value
        return .init(
            milliseconds: call.params[.resourceTimeout] ?? usual, parameter: "resource_timeout_ms (--timeout)")
    }

    /// Refuses what a request that continues without its caller would wait for: its caller alone can end the wait.
    private func checkDetached(_ parameters: borrowing RequestParameters, _ call: Call) throws(RPCError) {
        guard parameters.output?.isOnDemand != true else { throw .outputNeedsCaller }
        guard call.params["after"] == nil else { throw .detachedFollower }
    }

    private lazy var tokens = TokenService(sessions: sessions, configuration: configuration) { [unowned self] in
        id(registry.nextSequence())
    }
    private func id(_ sequence: Int) -> String { "r_\(epoch)_\(String(sequence, radix: 36))" }

    /// Reads the parameters of a request, or of a session, whose callbacks outlive the connection of the call.
    func decoder(for client: any Caller, files: CallFiles, ofSession isOfSession: Bool = false)
        -> RequestParametersDecoder
    {
        decoders.decoder(for: client, files: files, ofSession: isOfSession, tokens: tokens)
    }

    /// Counts what a request has come to use of memory. Returns why there is no room for it.
    func growRequest(_ id: String, to bytes: Int) -> Quota.Refusal? {
        registry.known(id).flatMap { registry.grow($0, to: bytes, limits) }
    }

    // MARK: Finding

    /// Whether a client may use and read what another client has made: only one of the same user may, whatever its
    /// role.
    func mayRead(_ owner: ClientIdentity, _ client: any Client) -> Bool { owner.uid == client.uid }

    /// The request that a call names, if the caller may use it.
    func entry(of call: Call) throws(RPCError) -> RequestEntry {
        try entry(call.params["request"]?.string ?? "", for: call.client)
    }

    /// The request that a call ends: an administrator may also end another user's.
    func entryToEnd(of call: Call) throws(RPCError) -> RequestEntry {
        let id = call.params["request"]?.string ?? ""
        guard call.client.role == .admin, let entry = registry[id] else { return try entry(id, for: call.client) }
        return entry
    }

    func entry(_ id: String, for client: any Client) throws(RPCError) -> RequestEntry {
        guard let entry = registry[id], mayRead(entry.client, client) else { throw .requestNotFound(id) }
        return entry
    }

    // MARK: Ending

    private func didFinish(_ entry: RequestEntry, _ client: (any Client)?) {
        client?.resources.dependents[entry.sequence] = nil
        callbacks.requestDidFinish(entry.request.id)
        evict(registry.finish(entry, at: WallClock.microseconds(), limits), after: entry)
        if entry.isDismissed { spool.release(entry.request.id) }
        leaseRest(of: entry.request.stream)
        if entry.request.error != nil { failed += 1 }
        log.write(.debug, "request finished", RequestService.fields(of: entry))
        if RequestService.hasConnectedUnverified(entry.request) {
            log.write(
                .warning, "a connection was made to a server that was not verified", RequestService.fields(of: entry))
        }
        onFinish()
    }

    /// The unread part of a stream that is over stays as long as a body would.
    private func leaseRest(of stream: ResponseStream?) {
        guard let stream, stream.hasUnreadBytes else { return }
        loop.arm(Timer { [weak stream] in stream?.discard() }, afterMilliseconds: limits.spoolLeaseMilliseconds)
    }

    /// Whether a request has made a connection to a server that was not verified.
    private static func hasConnectedUnverified(_ request: Request) -> Bool {
        request.attempts.contains { attempt in
            attempt.hops.contains { $0.metrics.map { !$0.isServerVerified && !$0.isReused } ?? false }
        }
    }

    private static func fields(of entry: RequestEntry) -> [(StaticString, String)] {
        [
            ("request", entry.request.id), ("client", entry.clientName),
            ("url", Redaction.withoutSecrets(entry.request.parameters.url)),
            ("status", entry.request.response.map { String($0.status) } ?? "-"),
            ("error", entry.request.error?.name ?? "-"),
        ]
    }

    /// Cancels a request and dismisses it.
    /// - Parameter keepingPartialFile: whether the partial file of a download stays: its client may have the token, and
    ///   come back.
    /// - Parameter then: called when the partial file of a request that is over has been removed, if it is.
    func abandon(_ entry: RequestEntry, keepingPartialFile: Bool, then: @escaping () -> Void = {}) {
        entry.request.cancel(producingResumeData: keepingPartialFile)
        if keepingPartialFile { then() } else { entry.request.discardPartialFile(completion: then) }
        dismiss(entry, keepingBody: false)
    }

    /// Removes a request. The body of one that was performed stays for a while, since its answer may name the file.
    func dismiss(_ entry: RequestEntry, keepingBody: Bool) {
        registry.remove(entry)
        if entry.deferredAnswers > 0 { noteMemory(of: entry) }
        if !keepingBody { spool.release(entry.request.id) }
    }
}
