@_exported public import CarpoolHTTP
@_exported public import CarpoolJSON
internal import CarpoolCache
internal import CarpoolSystem

/// A ``Session`` inside a program, without the daemon: an event loop, the transport and the session over it, on one
/// thread.
///
/// ``Session/run(_:eventMonitor:transport:temporaryDirectory:_:)`` makes one. It is the actor of everything inside:
/// requests, responses and the session cannot leave it, and a `Task` that uses it stays on its loop.
public actor EmbeddedSession {
    /// The loop that everything runs on.
    nonisolated let loop: EventLoop
    /// The session itself.
    public let session: Session

    /// The executor of the loop, so that nothing of the session ever runs on another thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Makes a session on a loop of the calling thread.
    init(_ parts: Parts) throws {
        loop = try EventLoop()
        let files = FileStore(work: Worker(loop: loop), scheduler: loop)
        let engine = try CurlTransport(loop: loop, configuration: parts.transport)
        session = Session(
            name: "default", configuration: parts.configuration,
            // Responses are stored in memory alone.
            transport: CachingTransport(next: engine, loop: loop, stores: CacheStores(loop: loop)), scheduler: loop,
            spool: TemporarySpool(directory: parts.temporaryDirectory, files: files), files: files,
            eventMonitor: parts.eventMonitor)
    }

    /// The parts of a session.
    ///
    /// `@unchecked Sendable` because the thread that makes the session also runs its loop, which the compiler cannot
    /// know.
    struct Parts: @unchecked Sendable {
        let configuration: SessionConfiguration
        let eventMonitor: any EventMonitor
        let transport: TransportConfiguration
        let temporaryDirectory: String
    }

    /// Makes a request. Nothing is sent before one of its values is requested, or ``Request/resume()`` is called; until
    /// then validators, interceptors and a redirect handler can be added.
    /// - Parameters:
    ///   - url: the URL; an invalid one fails the request.
    ///   - method: the method.
    ///   - parameters: the parameters that ``ParameterEncoding`` puts into the URL or the body; `nil` for none.
    ///   - encoding: how they are encoded; by default in the query of a GET, HEAD or DELETE, and as a form in the body
    ///     of others.
    ///   - headers: the request's own fields; they override the session's of the same name.
    ///   - interceptor: the request's interceptor; it runs after the session's own.
    ///   - eventMonitors: monitors of this request alone, after the session's.
    public func request(
        _ url: String, method: HTTPMethod = .get, parameters: StructuredValue? = nil,
        encoding: ParameterEncoding = .form, headers: HTTPHeaders = HTTPHeaders(), interceptor: Interceptor? = nil,
        eventMonitors: [any EventMonitor] = []
    ) -> Request {
        var wanted = RequestParameters(method: method, url: url)
        wanted.parameters = parameters
        wanted.encoding = encoding
        wanted.fields = headers.fields
        wanted.interceptor = interceptor
        wanted.eventMonitors = eventMonitors
        return request(wanted)
    }

    /// Makes a request from complete parameters.
    public func request(_ parameters: RequestParameters) -> Request {
        var parameters = parameters
        if parameters.userAgent == nil { parameters.userAgent = EmbeddedSession.userAgent }
        let request = session.request(parameters, id: "r_\(session.requestCount &+ 1)")
        request.setUp()
        return request
    }

    /// Cancels every active request (SE-17). Returns how many were cancelled; the session still takes new ones.
    @discardableResult public func cancelAllRequests() -> Int { session.cancelAllRequests() }

    /// Ends the session and its loop.
    func end() {
        session.invalidate(cancelling: true)
        loop.stop()
    }

    /// The program's `User-Agent`, as far as its name is known (HH-08).
    private static let userAgent = try? HTTPField(
        name: "User-Agent",
        value: DefaultFields.userAgent(
            client: CommandLine.arguments.first?.split(separator: "/").last.map(String.init), version: nil))
}
