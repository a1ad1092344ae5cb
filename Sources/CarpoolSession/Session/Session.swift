public import CarpoolHTTP
internal import CarpoolSystem

/// A named, immutable configuration and the requests made under it. All sessions of a transport share its pool of
/// connections.
public final class Session {
    /// Its name, unique among its user's.
    public let name: String
    /// The user who owns the session, as in ``ConnectionPartition/user``; `nil` for the process's own user.
    public let user: UInt32?
    /// The common settings of its requests; immutable (SE-06).
    public let configuration: SessionConfiguration
    /// Requests that are not over yet.
    ///
    /// The latest is the first: those that wait for a connection end before those whose connection they would get.
    public var activeRequests: [Request] { active.values.sorted { $0.number > $1.number } }
    private var active: [ObjectIdentifier: Request] = [:]
    /// Whether the event of the invalidation, the last of a session, was sent.
    private var hasReportedInvalidation = false
    /// How many requests are not over yet.
    public var activeCount: Int { active.count }
    /// How many requests have a transfer (TM-01).
    public var taskCount: Int { tasks.count }
    /// Whether the session was invalidated and takes no more requests.
    public private(set) var isInvalid = false
    /// Whether the session becomes invalid with the end of its last request.
    private var isRetired = false
    /// How many requests were created.
    public private(set) var requestCount = 0

    let transport: any Transport
    let scheduler: any Scheduler
    let spool: any BodySpool
    /// Writes files without blocking on the disk.
    let files: FileStore
    /// Receives the events of all requests.
    let eventMonitor: any EventMonitor
    let streamMemory: StreamMemory
    /// An object that lives as long as the session, such as its share of a quota. Requests keep their session after it
    /// is invalidated.
    public var account: AnyObject?
    /// The account of the memory that requests take in addition to their calls; `nil` for no limit.
    public var memory: (any RequestMemory)?
    /// The state of the network; `nil` if it is not watched.
    let connectivity: (any Connectivity)?
    /// The request of each transfer.
    var tasks = TaskMap<Request>()
    /// Whether the session's store has ended, so that nothing uses it any more.
    public var hasReleasedCache = false
    /// How requests use the cache if they say nothing; `nil` without a cache.
    public private(set) lazy var standardCacheUse = makeStandardCacheUse()
    /// Receives the events of the transfers.
    private(set) lazy var delegate: any TransferDelegate = makeDelegate()
    /// The settings of connections of the configuration, by origin.
    var inheritedSettings = InheritedSettings()
    /// Where credentials were accepted.
    var knownSpaces = KnownSpaces()
    /// The credentials of requests without their own: those of the configuration, and those that were set later.
    public internal(set) var credentials: SessionCredentials
    /// The session's jar; `nil` if its configuration has no cookies.
    public let cookieJar: CookieJar?
    /// Makes the account of a request's own jar; `nil` for no limit.
    public var makeCookieMemory: (() -> any SharedMemory)?
    /// The configuration's fields and the defaults, made once.
    let defaultFields: [HTTPField]

    /// How many fields the session adds to each request.
    public var fieldCount: Int { defaultFields.count }

    /// Makes a session over a transport; the scheduler and the connectivity belong to the transport's loop.
    public init(
        name: String, user: UInt32? = nil, configuration: SessionConfiguration, transport: any Transport,
        scheduler: any Scheduler, spool: any BodySpool, files: FileStore, eventMonitor: any EventMonitor,
        streamMemory: StreamMemory = StreamMemory(),
        connectivity: (any Connectivity)? = nil, cookieJar: CookieJar? = nil
    ) {
        self.name = name
        self.user = user
        self.configuration = configuration
        credentials = configuration.credentials
        self.transport = transport
        self.scheduler = scheduler
        self.spool = spool
        self.files = files
        self.eventMonitor = eventMonitor
        self.streamMemory = streamMemory
        self.connectivity = connectivity
        self.cookieJar = configuration.cookies.map { _ in cookieJar ?? CookieJar() }
        defaultFields = Session.defaultFields(of: configuration)
    }

    /// The configuration's fields, and `Accept-Language` if languages are configured. `Accept-Encoding` is set by the
    /// transport, which decodes what it requests; `User-Agent` names the client, and so belongs to the request.
    private static func defaultFields(of configuration: SessionConfiguration) -> [HTTPField] {
        let fields = configuration.fields
        guard !configuration.languages.isEmpty, !fields.contains(where: { $0.hasName("accept-language") }) else {
            return fields
        }
        let value = DefaultFields.acceptLanguage(configuration.languages)
        return fields + [try? HTTPField(name: "Accept-Language", value: value)].compactMap(\.self)
    }

    /// Makes a request; nothing is sent before ``Request/resume()``, and nothing happens at all before that or
    /// ``Request/setUp()``.
    public func request(_ parameters: consuming RequestParameters, id: String) -> Request {
        requestCount += 1
        let request = Request(id: id, parameters: consume parameters, session: self)
        request.number = requestCount
        request.parameters.options.merge(over: configuration.options)
        request.receiver = receiver(for: request)
        active[ObjectIdentifier(request)] = request
        return request
    }

    /// Cancels every active request (SE-17). Returns how many were cancelled; the session still takes new ones.
    @discardableResult public func cancelAllRequests() -> Int {
        var count = 0
        for request in activeRequests where request.cancel() { count += 1 }
        return count
    }

    /// Invalidates the session: it takes no more requests. Active ones continue, or fail with `session_invalidated`
    /// (SE-19). The monitors get the event when the last one is over (EM-01).
    /// - Parameter carryOut: aborts each of the requests that are to be aborted, now or later: there may be many.
    public func invalidate(
        cancelling: Bool,
        carryOut: (_ requests: [Request], _ end: @escaping (Request) -> Void) -> Void = { $0.forEach($1) }
    ) {
        isInvalid = true
        carryOut(activeRequests.filter { cancelling || $0.attempts.isEmpty }) { $0.abortForInvalidSession() }
        reportInvalidation()
    }

    /// Ends the session when its requests are over; those that have not begun may still begin. The session must take no
    /// more requests: another one has its name.
    public func retire() {
        isRetired = true
        reportInvalidation()
    }

    /// Sends an event to the session's monitor, then, unless it concerns the task, to the monitors of the request
    /// (EM-01 to EM-44).
    func notify(_ event: SessionEvent, of request: Request) {
        eventMonitor.receive(event, of: request)
        guard !request.parameters.eventMonitors.isEmpty, !event.isOfTask else { return }
        for index in request.parameters.eventMonitors.indices {
            request.parameters.eventMonitors[index].receive(event, of: request)
        }
    }

    /// Removes a request that is over from the table of active requests.
    func remove(_ request: Request) {
        active[ObjectIdentifier(request)] = nil
    }

    /// Notifies the monitor that the session is invalid, once its last request is over.
    func reportInvalidation() {
        guard isInvalid || isRetired, active.isEmpty, !hasReportedInvalidation else { return }
        hasReportedInvalidation = true
        isInvalid = true
        eventMonitor.sessionDidBecomeInvalid(self)
    }
}

// MARK: Tasks
extension Session {
    /// Pauses the transfer of a request that was suspended.
    func pause(_ request: Request) {
        request.transfer?.pause()
    }

    /// Continues a transfer, or handles its deferred end, unless something else still pauses the request.
    func proceed(_ request: Request) {
        guard !request.isPaused, let transfer = request.transfer else { return }
        if let completion = request.deferredCompletion {
            request.deferredCompletion = nil
            delegate.transferDidComplete(transfer, completion.value)
        } else {
            transfer.resume()
        }
    }

    /// Cancels the transfer of a request; its end follows.
    func cancelTransfer(of request: Request) {
        guard let transfer = request.transfer else {
            // Between two hops, while the body of the second is created.
            handle(.ended(.cancellation, .sessionTaskFailed(.cancellation)), of: request)
            return
        }
        transfer.cancel()
        guard let completion = request.deferredCompletion else { return }
        request.deferredCompletion = nil
        delegate.transferDidComplete(
            transfer, TransferCompletion(error: .cancellation, metrics: completion.value.metrics))
    }
}
