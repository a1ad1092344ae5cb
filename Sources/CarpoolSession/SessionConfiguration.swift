public import CarpoolHTTP

/// What every request of a session has in common. Read once, when the session is made: changing it afterwards changes nothing.
public struct SessionConfiguration: Equatable {
    /// Fields that every request carries unless it brings its own of the same name. In this order.
    public var fields: [HTTPField] = []
    /// The longest time without a byte in either direction, in milliseconds.
    public var idleTimeoutMilliseconds = 60_000
    /// The longest time for a whole request with its redirects, in milliseconds: 7 days, as URLSession has it.
    public var resourceTimeoutMilliseconds = 604_800_000
    /// The longest time to resolve, connect and agree on TLS, in milliseconds.
    public var connectTimeoutMilliseconds = 60_000
    /// How servers' certificates are judged.
    public var trust: ConnectionPartition.Trust = .system
    /// Which versions of HTTP may be spoken.
    public var httpVersion: HTTPVersionPolicy = .automatic
    /// What happens on a redirect.
    public var redirect: RedirectHandler = .follow
    /// Whether bodies are decoded (gzip, deflate, br, zstd), and by how much one may grow.
    public var decodesContent = true
    /// The most decoded bytes per encoded byte.
    public var maximumDecodingRatio = 200

    /// The defaults.
    public init() {}
}
