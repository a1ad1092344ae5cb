/// What one hop cost, read once when it ended. Times are microseconds from ``fetchStart``; `nil` where the step did not happen
/// (a reused connection resolves and connects nothing).
public struct TransferMetrics: Sendable {
    /// When the hop was handed to the transport: microseconds since 1970-01-01T00:00:00Z.
    public var fetchStart: Int64 = 0
    /// Time spent in the admission queue, before anything below began.
    public var queuedMicroseconds = 0
    /// The name was resolved; the connection was made; TLS was agreed on.
    public var resolvedMicroseconds: Int?
    public var connectedMicroseconds: Int?
    public var securedMicroseconds: Int?
    /// The request began to be sent; the first byte of the response arrived; all was over.
    public var requestMicroseconds: Int?
    public var firstByteMicroseconds: Int?
    public var endMicroseconds = 0
    /// Whether the connection had been there before.
    public var isReused = false
    /// The connection's number, as in ``ConnectionObserver``; `nil` if none was made.
    public var connection: Int?
    /// `http/1.0`, `http/1.1` or `h2`; `nil` without a response.
    public var httpVersion: String?
    /// The version and cipher of TLS.
    public var tlsVersion: String?
    public var tlsCipher: String?
    /// Both ends of the connection.
    public var remoteAddress: String?
    public var remotePort: UInt16 = 0
    public var localAddress: String?
    public var localPort: UInt16 = 0
    /// Bytes of heads and bodies as they were on the wire, and of the body after decoding.
    public var requestHeaderBytes: Int64 = 0
    public var requestBodyBytes: Int64 = 0
    public var responseHeaderBytes: Int64 = 0
    public var responseBodyBytes: Int64 = 0
    public var decodedBodyBytes: Int64 = 0

    /// Makes an empty record.
    public init() {}
}
