/// The configuration of a ``CurlTransport``.
public struct TransportConfiguration: Sendable {
    /// The system's certificate authorities, as Debian and most other distributions have them.
    public static let systemAuthoritiesPath = "/etc/ssl/certs/ca-certificates.crt"
    /// Maximum number of connections to one HTTP/1.1 origin, of all clients.
    public var connectionsPerHost = 128
    /// The same for one client; six, as in URLSession and browsers. ``TransportRequest/connectionsPerHost`` changes it,
    /// up to half of those of all clients.
    public var connectionsPerHostAndClient = 6
    /// Maximum number of connections to one origin for long transfers (``TransportRequest/isLong``), in addition to
    /// the others, so that six of them do not block an origin.
    public var longConnectionsPerHost = 128
    /// The same for one client.
    public var longConnectionsPerHostAndClient = 8
    /// Maximum number of connections in total; idle ones are evicted for new ones.
    public var connections = 256
    /// Maximum number of transfers at a time on an HTTP/2 connection; 100 is the minimum that RFC 9113, section
    /// 6.5.2, recommends to servers.
    public var streamsPerConnection = 100
    /// Maximum number of waiting transfers; beyond that ``Transport/start(_:delegate:)`` fails them with
    /// ``TransportError/Code/resourceUnavailable``.
    public var queuedTransfers = 100_000
    /// Maximum number of paused transfers whose connections count in none of the limits above, so that they do not
    /// block others. Any more do count.
    public var pausedTransfers = 1_024
    /// Maximum number of partitions of one user with connections or transfers: each has handles and pools of its own.
    public var partitionsPerUser = 256
    /// Whether ``HTTPVersionPolicy/automatic`` may use HTTP/2 where the version of libcurl is fit for it.
    public var allowsHTTP2 = true
    /// Maximum idle time of a pooled connection, in seconds: less than the 75 s after which nginx closes it.
    public var idleSeconds = 60
    /// Maximum age of a connection, in seconds, so that changes of an origin's addresses are followed.
    public var lifetimeSeconds = 3_600
    /// The interval between checks of pooled connections while there are any, in milliseconds.
    public var sweepMilliseconds = 15_000
    /// The timeout of the protocol probe, during which the first transfer to an origin goes alone, in milliseconds.
    public var probeMilliseconds = 1_000
    /// The certificate authorities of ``ConnectionPartition/Trust/system``: a PEM file.
    public var authoritiesPath = systemAuthoritiesPath

    /// The defaults.
    public init() {}
}
