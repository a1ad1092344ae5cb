public import CarpoolHTTP

/// What a request asks for. A member that is `nil` takes the session's value.
@dynamicMemberLookup
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
    /// Adapts and retries behind the session's own (RI-06).
    public var interceptor: Interceptor?
    /// Whether the session's interceptor leaves the request alone: for what an interceptor itself sends.
    public var isExemptFromInterceptor = false
    /// Make values of the response's body, in order. Empty for the body alone.
    public var serializers: [any ResponseSerializer] = []
    /// Watch this request alone, behind the session's monitor: what it does itself, and not its tasks.
    public var eventMonitors: [any EventMonitor] = []
    /// Whether a reader's first failure ends a request of kind ``RequestKind/stream`` (ST-02).
    public var cancelsOnStreamError = false
    /// Whether the body waits until somebody has seen the head: ``Request/resume()`` lets it come (DR-03).
    public var holdsForHeaders = false
    /// The longest time to wait for its turn; `nil` for no limit but that of the whole.
    public var queueTimeoutMilliseconds: Int?
    /// How soon it has its turn when others wait for the same origin.
    public var priority = TransferPriority.normal
    /// Whose it is, for those who divide connections fairly.
    public var share = TransferShare()
    /// Whether the SHA-256 of the response's body is made: of the bytes that are kept, decoded if they are decoded.
    public var hashesBody = false
    /// Where a download goes, and from where it goes on.
    public var download: DownloadParameters?
    /// The most bytes of the response's body that are kept in memory; what is larger goes to a file of the spool. 0 means always a file.
    public var memoryLimitBytes = 45_056

    /// What it has of its own in place of its session's settings. Each setting is a member of the parameters as well: `nil` there stands for
    /// the session's value. ``Session/request(_:id:)`` adds what is inherited.
    public var options = TransferOptions()

    /// Makes parameters with every default.
    public init(method: HTTPMethod = .get, url: String) {
        self.method = method
        self.url = url
    }

    /// A setting of ``options``.
    public subscript<Value>(dynamicMember setting: WritableKeyPath<TransferOptions, Setting<Value>>) -> Value? {
        get { options[keyPath: setting].given }
        set {
            if let newValue {
                options[keyPath: setting].set(newValue)
            } else {
                options[keyPath: setting] = TransferOptions()[keyPath: setting]
            }
        }
    }
}

/// When a request to send is made of its parameters (SE-11).
public enum RequestSetup: String, Sendable {
    /// When the request is first resumed.
    case lazy
    /// At once: adapters run and the task is there, but nothing is sent before the request is resumed.
    case eager
}
