public import CarpoolHTTP
internal import CarpoolSystem

/// A named, immutable configuration and the requests made under it. All sessions of a transport share its pool of connections.
public final class Session {
    /// Its name, unique in the daemon.
    public let name: String
    /// What its requests have in common; never changes (SE-06).
    public let configuration: SessionConfiguration
    /// Requests that are not over yet.
    public var activeRequests: [Request] { Array(active.values) }
    private var active: [ObjectIdentifier: Request] = [:]
    /// Whether the monitors know that it is invalid: the last event of a session.
    private var hasToldInvalidity = false
    /// How many requests are not over yet.
    public var activeCount: Int { active.count }
    /// Whether it still takes requests.
    public private(set) var isInvalid = false
    /// How many requests it has been asked for.
    public private(set) var requestCount = 0

    let transport: any Transport
    let spool: any BodySpool
    let eventMonitor: any EventMonitor
    let delegate: SessionDelegate

    /// Makes a session over a transport.
    public init(
        name: String, configuration: SessionConfiguration, transport: any Transport, spool: any BodySpool,
        eventMonitor: any EventMonitor
    ) {
        self.name = name
        self.configuration = configuration
        self.transport = transport
        self.spool = spool
        self.eventMonitor = eventMonitor
        delegate = SessionDelegate()
    }

    /// Makes a request; nothing happens before ``Request/resume()``.
    public func request(_ parameters: RequestParameters, id: String) -> Request {
        requestCount &+= 1
        let request = Request(id: id, parameters: parameters, session: self)
        active[ObjectIdentifier(request)] = request
        return request
    }

    /// Ends every request that is not over. Gives how many there were.
    @discardableResult public func cancelAllRequests() -> Int {
        let requests = activeRequests
        for request in requests { request.cancel() }
        return requests.count
    }

    /// Takes no more requests; those under way go on, or fail with `session_invalidated` if they are to end (SE-19). The monitors are told
    /// when the last one is over (EM-01).
    public func invalidate(cancelling: Bool) {
        isInvalid = true
        if cancelling {
            for request in activeRequests { request.lose(to: .sessionInvalidated) }
        }
        tellInvalidity()
    }

    private func tellInvalidity() {
        guard isInvalid, active.isEmpty, !hasToldInvalidity else { return }
        hasToldInvalidity = true
        eventMonitor.sessionDidBecomeInvalid(self)
    }

    // MARK: The pipeline (RL-08)

    func perform(_ request: Request) {
        // A monitor may have cancelled it at any of its events, which then finishes it on the spot.
        guard !request.isFinished else { return }
        guard !isInvalid else { return fail(request, .sessionInvalidated) }
        request.attempts.append(Attempt())
        let made: TransportRequest
        do throws(SessionError) {
            made = try transportRequest(for: request.parameters)
        } catch {
            request.fail(error)
            eventMonitor.request(request, didFailToCreateURLRequestWith: error)
            return finish(request)
        }
        eventMonitor.requestDidCreateInitialURLRequest(request)
        guard !request.isFinished else { return }
        eventMonitor.requestDidCreateURLRequest(request)
        guard !request.isFinished else { return }
        send(made, for: request)
        eventMonitor.requestDidCreateTask(request)
        eventMonitor.requestDidResumeTask(request)
    }

    /// Hands one hop to the transport.
    func send(_ hop: TransportRequest, for request: Request) {
        request.attempts[request.attempts.count - 1].hops.append(Hop(method: hop.method, url: hop.url))
        request.current = hop
        let transfer = transport.start(hop, delegate: delegate)
        request.transfer = transfer
        delegate.tasks[transfer] = request
    }

    /// Completes the record; the request is over.
    func finish(_ request: Request) {
        guard !request.isFinished else { return }
        do throws(SessionError) { try request.body.complete() } catch { request.fail(error) }
        if !request.attempts.isEmpty { request.attempts[request.attempts.count - 1].error = request.error }
        active[ObjectIdentifier(request)] = nil
        request.markFinished()
        tellInvalidity()
    }

    private func fail(_ request: Request, _ error: SessionError) {
        request.fail(error)
        finish(request)
    }

    private func transportRequest(for parameters: RequestParameters) throws(SessionError) -> TransportRequest {
        let url: HTTPURL
        do throws(TransportError) { url = try HTTPURL(parameters.url) } catch {
            throw .invalidURL(parameters.url, error)
        }
        if case .none = parameters.body {} else if parameters.method == .get { throw .bodyDataInGETRequest }
        var made = TransportRequest(method: parameters.method, url: url, fields: parameters.fields)
        made.body = parameters.body
        addDefaultFields(to: &made)
        if let user = url.userInformation { addBasicAuthorization(user, to: &made) }
        made.partition.trust = parameters.trust ?? configuration.trust
        made.httpVersion = parameters.httpVersion ?? configuration.httpVersion
        made.idleTimeoutMilliseconds = parameters.idleTimeoutMilliseconds ?? configuration.idleTimeoutMilliseconds
        made.resourceTimeoutMilliseconds =
            parameters.resourceTimeoutMilliseconds ?? configuration.resourceTimeoutMilliseconds
        made.connectTimeoutMilliseconds =
            parameters.connectTimeoutMilliseconds ?? configuration.connectTimeoutMilliseconds
        made.decodesContent = parameters.decodesContent ?? configuration.decodesContent
        made.maximumDecodingRatio = parameters.maximumDecodingRatio ?? configuration.maximumDecodingRatio
        return made
    }

    private func addDefaultFields(to request: inout TransportRequest) {
        // Compared without case, but without making lower-case copies either: most requests bring few fields or none.
        let own = request.fields
        for field in configuration.fields where !own.contains(where: { $0.hasName(field.name) }) {
            request.fields.append(field)
        }
    }

    private func addBasicAuthorization(_ user: (user: String, password: String), to request: inout TransportRequest) {
        guard !request.fields.contains(where: { $0.hasName("authorization") }) else { return }
        let token = BasicCredential.token(user: user.user, password: user.password)
        if let field = try? HTTPField(name: "Authorization", value: "Basic \(token)") { request.fields.append(field) }
    }
}
