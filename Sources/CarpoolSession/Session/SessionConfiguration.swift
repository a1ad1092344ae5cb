public import CarpoolHTTP

/// What every request of a session has in common. Read once, when the session is made: changing it afterwards changes nothing (SE-06).
public struct SessionConfiguration {
    /// Fields that every request carries unless it brings its own of the same name. In this order. They go before the defaults of
    /// ``DefaultFields``, which they replace where the name is the same (HH-10).
    public var fields: [HTTPField] = []
    /// For `Accept-Language`, the dearest first (HH-07). Empty for none.
    public var languages: [String] = []
    /// Whether nothing of the session outlives it: no cookies, no cache and no credentials are kept anywhere but in memory (SE-04).
    public var isEphemeral = false
    /// Whether requests go as soon as somebody waits for them, or only when they are resumed (SE-09).
    public var startsRequestsImmediately = true
    /// When requests to send are made (SE-11).
    public var setup = RequestSetup.lazy
    /// Adapts and retries before the request's own (SE-12).
    public var interceptor: Interceptor?
    /// Judge responses whose request names no validators of its own.
    public var validators: [any ResponseValidator] = []
    /// The longest time without a byte in either direction, in milliseconds.
    public var idleTimeoutMilliseconds = 60_000
    /// The longest time for a whole request with its redirects, in milliseconds: 7 days, as URLSession has it. Each attempt has it anew.
    public var resourceTimeoutMilliseconds = 604_800_000
    /// The longest time to resolve, connect and agree on TLS, in milliseconds.
    public var connectTimeoutMilliseconds = 60_000
    /// Whether requests wait for a way to their host where there is none, instead of failing. Only the resource's time runs meanwhile.
    public var waitsForConnectivity = false
    /// How servers' certificates are judged.
    public var trust: ConnectionPartition.Trust = .system
    /// Which versions of HTTP may be spoken.
    public var httpVersion: HTTPVersionPolicy = .automatic
    /// What is done with characters that a URL must not hold.
    public var urlEncoding = URLEncoding.percent
    /// What happens on a redirect.
    public var redirect: RedirectHandler = .follow
    /// Whether bodies are decoded (gzip, deflate, br, zstd), and by how much one may grow.
    public var decodesContent = true
    /// The most decoded bytes per encoded byte.
    public var maximumDecodingRatio = 200

    /// The defaults (SE-03).
    public init() {}
}
