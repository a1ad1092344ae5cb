@_exported public import CarpoolHTTP
@_exported public import CarpoolJSON
internal import CarpoolSystem

/// A ``Session`` of a program's own, without the daemon: an event loop, the transport and the session over it, on one thread.
///
/// ``Session/run(_:eventMonitor:transport:temporaryDirectory:_:)`` makes one. It is the actor of all that happens inside: requests, responses and
/// the session cannot leave it, and a `Task` that uses it stays on its loop.
public actor EmbeddedSession {
    /// The loop that everything runs on.
    nonisolated let loop: EventLoop
    /// The session itself: what it is doing, and its end.
    public let session: Session

    /// The loop, so that nothing of the session ever runs on another thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Makes a session on a loop of the calling thread.
    init(_ parts: Parts) throws {
        loop = try EventLoop()
        let files = FileStore(work: Worker(loop: loop), scheduler: loop)
        session = Session(
            name: "default", configuration: parts.configuration,
            transport: try CurlTransport(loop: loop, configuration: parts.transport), scheduler: loop,
            spool: TemporarySpool(directory: parts.temporaryDirectory, files: files), files: files,
            eventMonitor: parts.eventMonitor)
    }

    /// What a session is made of.
    ///
    /// `@unchecked Sendable` because whoever makes the session runs its loop too, on the same thread: the compiler cannot know that.
    struct Parts: @unchecked Sendable {
        let configuration: SessionConfiguration
        let eventMonitor: any EventMonitor
        let transport: TransportConfiguration
        let temporaryDirectory: String
    }

    /// Makes a request. Nothing happens before one of its values is asked for, or ``Request/resume()``; so it can still be told how to be
    /// validated, retried and redirected.
    /// - Parameters:
    ///   - url: where to; a wrong one is the request's failure.
    ///   - method: the method.
    ///   - parameters: what ``ParameterEncoding`` puts into the URL or the body; `nil` for none.
    ///   - encoding: how it does so: in the query of a GET, HEAD or DELETE, as a form in the body of others, if nothing is said.
    ///   - headers: the request's own fields; they go before the session's of the same name.
    ///   - interceptor: adapts and retries behind the session's own.
    ///   - eventMonitors: watch this request alone, behind the session's.
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

    /// Makes a request of everything that can be said about one.
    public func request(_ parameters: RequestParameters) -> Request {
        var parameters = parameters
        if parameters.userAgent == nil { parameters.userAgent = EmbeddedSession.userAgent }
        let request = session.request(parameters, id: "r_\(session.requestCount &+ 1)")
        request.setUp()
        return request
    }

    /// Ends every request that is not over (SE-17). Gives how many were ended; new ones are welcome.
    @discardableResult public func cancelAllRequests() -> Int { session.cancelAllRequests() }

    /// Ends the session and its loop.
    func end() {
        session.invalidate(cancelling: true)
        loop.stop()
    }

    /// Names the program, as far as its name is known (HH-08).
    private static let userAgent = try? HTTPField(
        name: "User-Agent",
        value: DefaultFields.userAgent(
            client: CommandLine.arguments.first?.split(separator: "/").last.map(String.init), version: nil))
}
