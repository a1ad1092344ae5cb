/// One hop's request, valid by construction: method, URL and fields have passed their checks.
public struct TransportRequest {
    /// The method, and what follows from it.
    public var method: HTTPMethod
    /// Where to; `http` or `https`, without user information.
    public var url: HTTPURL
    /// The fields in the order in which they are sent. `Host`, framing and hop-by-hop fields are the transport's own.
    public var fields: [HTTPField]
    /// What is sent after the head.
    public var body: RequestBody = .none
    /// Whether the server is asked if it wants the body before it is sent (RFC 9110, section 10.1.1), for at most a second. Costs a round trip.
    public var expectsContinue = false
    /// What makes its connection unshareable with others.
    public var partition = ConnectionPartition()
    /// Which versions of HTTP it may speak.
    public var httpVersion: HTTPVersionPolicy = .automatic
    /// Whether it takes long by its nature, as downloads and streams do: it gets a connection that it shares with nobody meanwhile, counted apart
    /// from others, and a larger buffer.
    public var isLong = false
    /// Whether it must not use a connection that stands already: what was a way once may not be one now, and only connecting tells.
    public var needsFreshConnection = false
    /// Whose it is, for those who divide connections fairly.
    public var share = TransferShare()
    /// How soon it has its turn when others wait for the same origin.
    public var priority = TransferPriority.normal
    /// The longest time to wait for a turn, in milliseconds; `nil` for no limit but that of the whole.
    public var queueTimeoutMilliseconds: Int?
    /// The longest time without any byte in either direction, in milliseconds. Time spent in a pause of our own does not count.
    public var idleTimeoutMilliseconds = 60_000
    /// The longest time from start to end, the admission queue included.
    public var resourceTimeoutMilliseconds = 604_800_000
    /// The longest time to resolve, connect and agree on TLS.
    public var connectTimeoutMilliseconds = 60_000
    /// Whether `Accept-Encoding` is sent and the body decoded (gzip, deflate, br, zstd).
    public var decodesContent = true
    /// The most decoded bytes per encoded byte, once more than 1 MiB is decoded; beyond it the transfer fails as a bomb.
    public var maximumDecodingRatio = 200

    /// What a request whose content is decoded says in `Accept-Encoding`, unless it has such a field of its own; zstd is decoded too where it
    /// comes unasked.
    public static let acceptEncoding = "\(encodings)"
    static let encodings: StaticString = "br;q=1.0, gzip;q=0.9, deflate;q=0.8"

    /// Makes a request with the defaults of ``TransportRequest``.
    public init(method: HTTPMethod, url: HTTPURL, fields: [HTTPField] = []) {
        self.method = method
        self.url = url
        self.fields = fields
    }
}

extension TransportRequest {
    /// Whether the head says how long the body is: if there is one, and also for methods that are about giving one (RFC 9110, section 8.6).
    public var sendsLength: Bool {
        if case .none = body {} else { return method != .head }
        return method == .post || method.rawValue == "PUT" || method.rawValue == "PATCH"
    }

    /// Whether libcurl asks for encodings and decodes: not if the request asks for encodings itself, as it wants the bytes then.
    public var isDecoded: Bool { decodesContent && !fields.contains { $0.isNamed("accept-encoding") } }
}
