/// The limits of a ``CurlTransport``, and where it finds the system's trust.
public struct TransportConfiguration: Sendable {
    /// Connections to one origin that speaks HTTP/1.1, of all clients.
    public var connectionsPerHost = 24
    /// Those of one client; six, as browsers have agreed.
    public var connectionsPerHostAndClient = 6
    /// Connections to one origin for transfers that are long (``TransportRequest/isLong``), beside the others: so that six of them do not block
    /// an origin.
    public var longConnectionsPerHost = 32
    /// Those of one client.
    public var longConnectionsPerHostAndClient = 8
    /// Connections in all; pooled ones give way to new ones.
    public var connections = 256
    /// Transfers at a time on the connection of an origin that speaks HTTP/2; 100 is what RFC 9113, section 6.5.2, advises servers to allow.
    public var streamsPerConnection = 100
    /// Transfers that wait for their turn; beyond that ``Transport/start(_:delegate:)`` fails them with ``TransportError/Code/resourceUnavailable``.
    public var queuedTransfers = 100_000
    /// Transfers that are held up by whoever asked for them: their connections count in none of the limits above, so that others are not held
    /// up with them. Any more do count.
    public var pausedTransfers = 1_024
    /// Whether ``HTTPVersionPolicy/automatic`` may become HTTP/2 where the library is fit for it.
    public var allowsHTTP2 = true
    /// How long a pooled connection may be idle, in seconds: less than the 75 s after which nginx closes it, so that we are first.
    public var idleSeconds = 60
    /// How long a connection may live, in seconds, so that changes of an origin's addresses are followed.
    public var lifetimeSeconds = 3_600
    /// How often pooled connections are looked at while there are any, in milliseconds.
    public var sweepMilliseconds = 15_000
    /// How long the first transfer to an origin of unknown protocol goes alone, in milliseconds.
    public var probeMilliseconds = 1_000
    /// The certificate authorities of ``ConnectionPartition/Trust/system``: a PEM file.
    public var authoritiesPath = "/etc/ssl/certs/ca-certificates.crt"

    /// The defaults.
    public init() {}
}
