public import CarpoolHTTP

/// The parameters of a request. A member that is `nil` takes the session's value.
@dynamicMemberLookup
public struct RequestParameters {
    /// The method.
    public var method: HTTPMethod
    /// What is done with the bodies.
    public var kind = RequestKind.data
    /// The URL as given; it is parsed when the request is performed, and an invalid one fails the request.
    public var url: String
    /// The request's own fields, in order.
    public var fields: [HTTPField] = []
    /// Whether the session, the client and the transport add fields; without them ``fields`` are sent alone, with what
    /// HTTP requires.
    public var hasDefaultFields = true
    /// The body to send.
    public var body: RequestBody = .none
    /// Creates the body just before it is sent, in place of ``body``; `nil` for none.
    public var uploadable: (any Uploadable)?
    /// Whether the request sends `Expect: 100-continue` and waits for the server before it sends the body.
    public var expectsContinue = false
    /// Parameters that ``encoding`` puts into the URL or the body; `nil` for none (PE-02).
    public var parameters: StructuredValue?
    /// Parameters that are encoded already, in place of ``parameters``.
    public var encodedParameters: EncodedParameters?
    /// How the parameters are encoded; `nil` for the form with every default.
    public var encoding: ParameterEncoding?
    /// The `User-Agent` of the client that made the request; `nil` for the session's.
    public var userAgent: HTTPField?
    /// The user and the password for the origin of the URL; `nil` for none.
    public var credential: PasswordCredential?
    /// Credentials by host, for this request and its redirects: of the hosts to which ``credential`` is not sent.
    public var credentials: CredentialList?
    /// Decides how challenges are answered; `nil` for the credentials alone.
    public var challengeDecider: ChallengeDecider?
    /// The servers that get the body only with an answer to their challenge.
    public var challengersBeforeBody: Challengers = []
    /// The cookies of the request's own jar; `nil` for the session's jar, if it has one.
    public var cookies: RequestCookies?
    /// How the request uses the cache of its session; `nil` for the session's values.
    public var caching: RequestCaching?
    /// The request's own interceptor; it runs after the session's (RI-06).
    public var interceptor: (any RequestInterceptor)?
    /// Whether the session's interceptor skips the request: for requests that an interceptor itself sends.
    public var isExemptFromInterceptor = false
    /// The serializers of the response's body, in order. Empty for the body alone.
    public var serializers: [any ResponseSerializer] = []
    /// Monitors of this request alone, after the session's monitor: they get the request's events, but not those of its
    /// tasks.
    public var eventMonitors: [any EventMonitor] = []
    /// Whether a reader's first failure ends a request of kind ``RequestKind/stream`` (ST-02).
    public var cancelsOnStreamError = false
    /// Whether the body waits until the caller has seen the head and calls ``Request/resume()`` (DR-03).
    public var holdsForHeaders = false
    /// The longest time in the queue; `nil` for no limit but the resource timeout.
    public var queueTimeoutMilliseconds: Int?
    /// The priority in the queue of the origin.
    public var priority = TransferPriority.normal
    /// The share that the request belongs to when connections are divided fairly.
    public var share = TransferShare()
    /// The process that asked for the request; look-ups of names are limited for each.
    public var process: Int32 = 0
    /// Whether the metrics have what is known of the server's certificates.
    public var needsCertificates = false
    /// Whether the SHA-256 of the response's body is computed: of the bytes that are kept, decoded if they are decoded.
    public var hashesBody = false
    /// The destination of a download, and where it resumes from.
    public var download: DownloadParameters?
    /// The descriptor to which the response's body is written; `nil` if it is kept with the request. For data requests
    /// and uploads.
    public var output: DescriptorOutput?
    /// The most bytes of the response's body that are kept in memory; a larger body is written to a spool file. 0 means
    /// always a file.
    public var memoryLimitBytes = 45_056

    /// The request's own settings, which override its session's. Each setting is a member of the parameters as well,
    /// where `nil` stands for the session's value. ``Session/request(_:id:)`` adds what is inherited.
    public var options = TransferOptions()

    /// Makes parameters with all defaults.
    public init(method: HTTPMethod = .get, url: String) {
        self.method = method
        self.url = url
    }

    /// The credential for the first request, to this server; `nil` for none.
    public func credential(for origin: Origin) -> PasswordCredential? {
        credential ?? credentials?.credential(for: origin)
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

/// When the request to send is made from the parameters (SE-11).
public enum RequestSetup: String, Sendable {
    /// When the request is first resumed.
    case lazy
    /// Immediately: adapters run and the task is created, but nothing is sent before the request is resumed.
    case eager
}
