public import CarpoolHTTP

/// A stored response without its body: all that the rules need to decide about it.
public struct CachedResponse: Sendable {
    /// A request field that the response's `Vary` names.
    public struct VaryField: Sendable, Equatable {
        /// The name in lower case.
        public let name: String
        /// The value of the request, normalised; `nil` if the request had no such field.
        public let value: [UInt8]?

        /// Makes a field.
        public init(name: String, value: [UInt8]?) {
            self.name = name
            self.value = value
        }
    }

    /// The status.
    public var status: Int
    /// `http/1.0`, `http/1.1` or `h2`.
    public var httpVersion: String
    /// The fields that are stored, in order.
    public var fields: FieldBlock
    /// When the request was sent.
    public var requested: CacheTime
    /// When the head of the response, or of the last 304, arrived.
    public var received: CacheTime
    /// The fields of the request that select the response.
    public var vary: [VaryField]
    /// The hash of the credentials of the request; `nil` if it had none.
    public var credentials: [UInt8]?
    /// Whether the body was decoded.
    public var isDecoded: Bool
    /// The freshness in place of what the fields say, in milliseconds; `nil` for what they say.
    public var ttlMilliseconds: Int?
    /// Whether it must not be used without validation any more, whatever its age: an unsafe request, or a purge, has
    /// invalidated it.
    public var isInvalidated = false
    /// The number of bytes of the body.
    public var bodyBytes: Int

    /// Makes a response.
    public init(
        status: Int, httpVersion: String, fields: FieldBlock, requested: CacheTime, received: CacheTime,
        vary: [VaryField] = [], credentials: [UInt8]? = nil, isDecoded: Bool = false, ttlMilliseconds: Int? = nil,
        bodyBytes: Int = 0
    ) {
        self.status = status
        self.httpVersion = httpVersion
        self.fields = fields
        self.requested = requested
        self.received = received
        self.vary = vary
        self.credentials = credentials
        self.isDecoded = isDecoded
        self.ttlMilliseconds = ttlMilliseconds
        self.bodyBytes = bodyBytes
    }
}
