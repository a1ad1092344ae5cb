/// The metrics of one hop, read once when it ended. Times are microseconds from ``fetchStart``; `nil` where the step
/// did not happen (a reused connection resolves and connects nothing).
public struct TransferMetrics: Sendable {
    /// When the hop was passed to the transport: microseconds since 1970-01-01T00:00:00Z.
    public var fetchStart: Int64 = 0
    /// Time spent in the admission queue, before anything below began.
    public var queuedMicroseconds = 0
    /// The name was resolved.
    public var resolvedMicroseconds: Int?
    /// The connection was made.
    public var connectedMicroseconds: Int?
    /// The TLS handshake was complete.
    public var securedMicroseconds: Int?
    /// The request began to be sent.
    public var requestMicroseconds: Int?
    /// The first byte of the response arrived.
    public var firstByteMicroseconds: Int?
    /// The hop ended.
    public var endMicroseconds = 0
    /// Whether the connection was reused.
    public var isReused = false
    /// Why a connection was made; `nil` if it was reused, or there is none.
    public var newConnectionReason: NewConnectionReason?
    /// The connection's number, as in ``ConnectionObserver``; `nil` without a connection.
    public var connection: Int?
    /// `http/1.0`, `http/1.1` or `h2`; `nil` without a response.
    public var httpVersion: String?
    /// The version of TLS as OpenSSL names it, for example `TLSv1.3`.
    public var tlsVersion: String?
    /// The cipher as OpenSSL names it.
    public var tlsCipher: String?
    /// The certificate that was presented to the server of the connection; `nil` if none was.
    public var clientCertificate: ClientCertificate?
    /// Whether the server was verified, or evaluated; false if any server would have been accepted.
    public var isServerVerified = true
    /// The results of the verification of the certificates.
    public var verification = VerificationResults()
    /// What is known of the server's certificates, its own first: lines `NAME:VALUE`, as libcurl writes them; `nil` if
    /// the request did not ask for them (``TransportRequest/needsCertificates``).
    public var certificates: [[String]]?
    /// The status of the proxy's last answer to CONNECT; `nil` without one.
    public var connectStatus: Int?
    /// The proxy through which the connection was made; `nil` without one.
    public var proxy: Proxy?
    /// The remote address of the connection, which is that of the proxy if there is one.
    public var remoteAddress: String?
    /// The remote port of the connection; 0 without a connection.
    public var remotePort: UInt16 = 0
    /// The local address of the connection.
    public var localAddress: String?
    /// The local port of the connection; 0 without a connection.
    public var localPort: UInt16 = 0
    /// Bytes of the request's head, as HTTP/1.1 would write it.
    public var requestHeaderBytes: Int64 = 0
    /// Bytes of the request's body.
    public var requestBodyBytes: Int64 = 0
    /// Bytes of the response's heads, the interim ones included, as HTTP/1.1 would write them.
    public var responseHeaderBytes: Int64 = 0
    /// Bytes of the response's body before decoding.
    public var responseBodyBytes: Int64 = 0
    /// Bytes of the response's body as passed to the delegate.
    public var decodedBodyBytes: Int64 = 0
    /// What the cache did for the hop; `nil` without a cache.
    public var cache: CacheOutcome?

    /// Makes an empty record.
    public init() {}
}

/// OpenSSL's results of the verification of certificates (`X509_V_ERR_...`), as libcurl reports them: 0 if nothing is
/// wrong or there is no TLS, and 1 if the handshake has failed without a verification.
public struct VerificationResults: Sendable, Equatable {
    /// That of the server's certificate.
    public var server = 0
    /// That of an HTTPS proxy's.
    public var proxy = 0

    /// Makes results without a fault.
    public init() {}
}

/// Why a transfer has made a connection instead of using one that was there.
public enum NewConnectionReason: String, Sendable {
    /// No connection to the origin was open.
    case first
    /// The open ones were in use.
    case busy
    /// The open ones were made with other settings: trust, TLS, certificate, addresses or `Host`.
    case settings
    /// The open ones are for another kind of transfer: a long one, or another version of HTTP.
    case kind
    /// The transfer required one.
    case required
}
