public import CarpoolHTTP

/// What a request asks for. A member that is `nil` takes the session's value.
public struct RequestParameters {
    /// The method.
    public var method: HTTPMethod
    /// What becomes of its bodies.
    public var kind = RequestKind.data
    /// The URL as given; it is parsed when the request is performed, and a wrong one is the request's failure.
    public var url: String
    /// The request's own fields, in order.
    public var fields: [HTTPField] = []
    /// What is sent.
    public var body: RequestBody = .none
    /// Makes what is sent when it is about to be sent, in place of ``body``; `nil` if that is there as it is.
    public var uploadable: (any Uploadable)?
    /// Whether the server is asked if it wants the body before it is sent.
    public var expectsContinue = false
    /// Parameters that ``encoding`` puts into the URL or the body; `nil` for none (PE-02).
    public var parameters: StructuredValue?
    /// Parameters that are encoded already, in place of ``parameters``.
    public var encodedParameters: EncodedParameters?
    /// How the parameters are encoded; `nil` for the form with every default.
    public var encoding: ParameterEncoding?
    /// Who made the request, for a `User-Agent` of its own; `nil` for the session's.
    public var userAgent: HTTPField?
    /// How the server's certificate is judged.
    public var trust: ConnectionPartition.Trust?
    /// Which versions of HTTP may be spoken.
    public var httpVersion: HTTPVersionPolicy?
    /// Adapts and retries behind the session's own (RI-06).
    public var interceptor: Interceptor?
    /// Whether the session's interceptor leaves the request alone: for what an interceptor itself sends.
    public var isExemptFromInterceptor = false
    /// Judge the response, in order (VA-08). `nil` for the session's.
    public var validators: [any ResponseValidator]?
    /// Make values of the response's body, in order. Empty for the body alone.
    public var serializers: [any ResponseSerializer] = []
    /// Watch this request alone, behind the session's monitor: what it does itself, and not its tasks.
    public var eventMonitors: [any EventMonitor] = []
    /// What happens on a redirect.
    public var redirect: RedirectHandler?
    /// Whether a reader's first failure ends a request of kind ``RequestKind/stream`` (ST-02).
    public var cancelsOnStreamError = false
    /// When the request to send is made.
    public var setup: RequestSetup?
    /// Whether the body waits until somebody has seen the head: ``Request/resume()`` lets it come (DR-03).
    public var holdsForHeaders = false
    /// The three time limits, in milliseconds; see ``SessionConfiguration``.
    public var idleTimeoutMilliseconds: Int?
    /// The limit for the whole request.
    public var resourceTimeoutMilliseconds: Int?
    /// The limit for reaching the origin.
    public var connectTimeoutMilliseconds: Int?
    /// The longest time to wait for its turn; `nil` for no limit but that of the whole.
    public var queueTimeoutMilliseconds: Int?
    /// How soon it has its turn when others wait for the same origin.
    public var priority = TransferPriority.normal
    /// Whose it is, for those who divide connections fairly.
    public var share = TransferShare()
    /// Whether it waits for a way to its host where there is none, instead of failing.
    public var waitsForConnectivity: Bool?
    /// What is done with characters that the URL must not hold.
    public var urlEncoding: URLEncoding?
    /// Whether the body is decoded, and by how much it may grow.
    public var decodesContent: Bool?
    /// The most decoded bytes per encoded byte.
    public var maximumDecodingRatio: Int?
    /// Whether the SHA-256 of the response's body is made: of the bytes that are kept, decoded if they are decoded.
    public var hashesBody = false
    /// Where a download goes, and from where it goes on.
    public var download: DownloadParameters?
    /// The most bytes of the response's body that are kept in memory; what is larger goes to a file of the spool. 0 means always a file.
    public var memoryLimitBytes = 45_056

    /// Makes parameters with every default.
    public init(method: HTTPMethod = .get, url: String) {
        self.method = method
        self.url = url
    }
}

/// When a request to send is made of its parameters (SE-11).
public enum RequestSetup: String, Sendable {
    /// When the request is first resumed.
    case lazy
    /// At once: adapters run and the task is there, but nothing is sent before the request is resumed.
    case eager
}
