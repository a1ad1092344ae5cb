public import CarpoolHTTP
internal import CarpoolSystem

/// A named, immutable configuration and the requests made under it. All sessions of a transport share its pool of connections.
public final class Session {
    /// Its name, unique among its user's.
    public let name: String
    /// The user whose session it is, as in ``ConnectionPartition/user``; `nil` for the process's own user.
    public let user: UInt32?
    /// What its requests have in common; never changes (SE-06).
    public let configuration: SessionConfiguration
    /// Requests that are not over yet.
    public var activeRequests: [Request] { Array(active.values) }
    private var active: [ObjectIdentifier: Request] = [:]
    /// Whether the monitors know that it is invalid: the last event of a session.
    private var hasToldInvalidity = false
    /// How many requests are not over yet.
    public var activeCount: Int { active.count }
    /// How many of them are with the transport (TM-01).
    public var taskCount: Int { delegate.tasks.count }
    /// Whether it still takes requests.
    public private(set) var isInvalid = false
    /// How many requests it has been asked for.
    public private(set) var requestCount = 0

    let transport: any Transport
    let scheduler: any Scheduler
    let spool: any BodySpool
    /// Keeps files without waiting for a disk.
    let files: FileStore
    /// Receives the events of all requests.
    let eventMonitor: any EventMonitor
    let streamMemory: StreamMemory
    /// An object that lives as long as the session, such as its share of a quota. Requests keep their session after it is invalidated.
    public var account: AnyObject?
    /// The account of what requests take besides what came with their calls; `nil` for no bound.
    public var memory: (any RequestMemory)?
    /// What is known of the network; `nil` if nobody looks.
    let connectivity: (any Connectivity)?
    let delegate: SessionDelegate
    /// The configuration's fields and the defaults, made once.
    let defaultFields: [HTTPField]

    /// How many fields each of its requests gets from it.
    public var fieldCount: Int { defaultFields.count }

    /// Makes a session over a transport; the scheduler and whoever knows the network are of the transport's loop.
    public init(
        name: String, user: UInt32? = nil, configuration: SessionConfiguration, transport: any Transport,
        scheduler: any Scheduler, spool: any BodySpool, files: FileStore, eventMonitor: any EventMonitor,
        streamMemory: StreamMemory = StreamMemory(),
        connectivity: (any Connectivity)? = nil
    ) {
        self.name = name
        self.user = user
        self.configuration = configuration
        self.transport = transport
        self.scheduler = scheduler
        self.spool = spool
        self.files = files
        self.eventMonitor = eventMonitor
        self.streamMemory = streamMemory
        self.connectivity = connectivity
        delegate = SessionDelegate()
        defaultFields = Session.defaultFields(of: configuration)
    }

    /// The configuration's fields, and `Accept-Language` if languages are known. `Accept-Encoding` is the transport's, which decodes what it asks
    /// for; `User-Agent` names the client, and so is the request's.
    private static func defaultFields(of configuration: SessionConfiguration) -> [HTTPField] {
        let fields = configuration.fields
        guard !configuration.languages.isEmpty, !fields.contains(where: { $0.hasName("accept-language") }) else {
            return fields
        }
        let value = DefaultFields.acceptLanguage(configuration.languages)
        return fields + [try? HTTPField(name: "Accept-Language", value: value)].compactMap(\.self)
    }

    /// Makes a request; nothing is sent before ``Request/resume()``, and nothing happens at all before that or ``Request/setUp()``.
    public func request(_ parameters: consuming RequestParameters, id: String) -> Request {
        requestCount &+= 1
        parameters.options = parameters.options.merged(over: configuration.options)
        let request = Request(id: id, parameters: parameters, session: self)
        if request.parameters.kind == .stream {
            request.receiver = ResponseStream(request, memory: streamMemory)
        }
        active[ObjectIdentifier(request)] = request
        return request
    }

    /// Ends every request that is not over (SE-17). Gives how many were ended; new ones are welcome.
    @discardableResult public func cancelAllRequests() -> Int {
        var count = 0
        for request in activeRequests where request.cancel() { count += 1 }
        return count
    }

    /// Takes no more requests; those under way go on, or fail with `session_invalidated` if they are to end (SE-19). The monitors are told
    /// when the last one is over (EM-01).
    /// - Parameter carryOut: ends each of the requests that are to end, now or later: there may be many.
    public func invalidate(
        cancelling: Bool,
        carryOut: (_ requests: [Request], _ end: @escaping (Request) -> Void) -> Void = { $0.forEach($1) }
    ) {
        isInvalid = true
        carryOut(activeRequests.filter { cancelling || $0.attempts.isEmpty }) { $0.abortForInvalidSession() }
        tellInvalidity()
    }

    /// Sends an event to the session's monitor, then, unless it is about the task, to the monitors of the request (EM-01 to EM-44).
    func notify(_ event: SessionEvent, of request: Request) {
        eventMonitor.receive(event, of: request)
        guard !request.parameters.eventMonitors.isEmpty, !event.isOfTask else { return }
        for index in request.parameters.eventMonitors.indices {
            request.parameters.eventMonitors[index].receive(event, of: request)
        }
    }

    /// Takes a request that is over from the table.
    func forget(_ request: Request) {
        active[ObjectIdentifier(request)] = nil
    }

    /// Tells that the session is invalid, once its last request is over.
    func tellInvalidity() {
        guard isInvalid, active.isEmpty, !hasToldInvalidity else { return }
        hasToldInvalidity = true
        eventMonitor.sessionDidBecomeInvalid(self)
    }
}

// MARK: Tasks
extension Session {
    /// Pauses the transfer of a request that was suspended.
    func pause(_ request: Request) {
        request.transfer?.pause()
    }

    /// Continues a transfer, or takes the end that came meanwhile, unless something else still pauses the request.
    func proceed(_ request: Request) {
        guard !request.isHeldUp, let transfer = request.transfer else { return }
        if let completion = request.heldCompletion {
            request.heldCompletion = nil
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
        guard let completion = request.heldCompletion else { return }
        request.heldCompletion = nil
        delegate.transferDidComplete(
            transfer, TransferCompletion(error: .cancellation, metrics: completion.value.metrics))
    }
}
