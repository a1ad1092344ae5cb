public import CarpoolSystem

/// The request of one hop, valid by construction: method, URL and fields were validated.
public struct TransportRequest {
    /// The method.
    public var method: HTTPMethod
    /// The URL; `http` or `https`, without user information.
    public var url: HTTPURL
    /// The fields in the order in which they are sent. The transport sets framing and hop-by-hop fields itself, and
    /// `Host` if there is none.
    public var fields: [HTTPField]
    /// The fields that are sent besides, for this hop alone; `nil` for none. They are never shown.
    public var hopFields: HopFields?
    /// Whether fields are added to ``fields``; without them only what HTTP requires is.
    public var hasDefaultFields = true
    /// Receives the heads of the responses as they come; `nil` for none.
    public var heads: RecordedHeads?
    /// The body.
    public var body: RequestBody = .none
    /// Whether `Expect: 100-continue` is sent and the server's answer awaited (RFC 9110, section 10.1.1), for at most
    /// a second. Costs a round trip.
    public var expectsContinue = false
    /// The properties that another request must share to use the same connection.
    public var partition = ConnectionPartition()
    /// The versions of HTTP that it may use.
    public var httpVersion: HTTPVersionPolicy = .automatic
    /// Whether it is long, as downloads and streams are: it gets a connection that is not shared meanwhile and
    /// counted separately, and a larger buffer.
    public var isLong = false
    /// Whether it gets the larger buffer of a long one, although it shares the connections of the others.
    public var hasLargeBuffer = false
    /// The most connections of its client to its HTTP/1.1 host while it waits or runs; 0 for the engine's default.
    public var connectionsPerHost = 0
    /// Whether it must use a new connection: an existing one does not show whether the host can be reached now.
    public var needsFreshConnection = false
    /// Whether the metrics have what is known of the server's certificates. Then it uses a connection that was made for
    /// such a request, or a new one.
    public var needsCertificates = false
    /// Its user and client, among whom connections are divided fairly.
    public var share = TransferShare()
    /// The process that asked for it; look-ups of names are limited for each.
    public var process: Int32 = 0
    /// Its priority among others that wait for the same origin.
    public var priority = TransferPriority.normal
    /// Maximum time in the queue, in milliseconds; `nil` for no limit except ``resourceTimeoutMilliseconds``.
    public var queueTimeoutMilliseconds: Int?
    /// Maximum time without a byte in either direction, in milliseconds. Time during which the transfer is paused
    /// does not count.
    public var idleTimeoutMilliseconds = 60_000
    /// Maximum time from start to end, including the admission queue.
    public var resourceTimeoutMilliseconds = 604_800_000
    /// When ``resourceTimeoutMilliseconds`` began, for a request that follows others; `nil` for its own start.
    public var resourceStart: MonotonicTime?
    /// Maximum time to resolve, connect and negotiate TLS.
    public var connectTimeoutMilliseconds = 60_000
    /// Whether `Accept-Encoding` is sent and the body decoded (gzip, deflate, br, zstd).
    public var decodesContent = true
    /// Whether a body is decoded too that was encoded although an `Accept-Encoding` field asks for no coding.
    public var decodesUnasked = false
    /// Whether a compressed file whose own format is named as its coding stays as it is.
    public var keepsFiles = false
    /// Whether the body is passed on with its transfer coding, as it was received: the chunks of HTTP/1.1 with their
    /// sizes, and the trailer section. The content is not decoded then.
    public var keepsTransferCoding = false
    /// Maximum ratio of decoded to encoded bytes, once more than 1 MiB is decoded; beyond it the transfer fails as a
    /// decompression bomb.
    public var maximumDecodingRatio = 200
    /// How it uses stored responses; `nil` if it does not. Only a transport with a cache reads it.
    public var cache: CacheUse?

    /// The value of `Accept-Encoding` of a request whose content is decoded, unless it has such a field of its own;
    /// zstd is decoded too if a server sends it unasked.
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
    /// When ``resourceTimeoutMilliseconds`` are over; `start` is the request's own start.
    public func resourceEnd(startedAt start: MonotonicTime) -> MonotonicTime {
        (resourceStart ?? start).advanced(milliseconds: resourceTimeoutMilliseconds)
    }

    /// Whether the head has a length: if there is a body, and for methods that usually have one (RFC 9110, section
    /// 8.6).
    public var sendsLength: Bool {
        if case .none = body {} else { return method != .head }
        guard hasDefaultFields else { return false }
        return method == .post || method.rawValue == "PUT" || method.rawValue == "PATCH"
    }

    /// Whether the body is empty, and its fields say so.
    var hasOwnEmptyLength: Bool {
        guard !hasDefaultFields, case .bytes(let bytes) = body, bytes.isEmpty else { return false }
        return fields.contains { $0.isNamed("content-length") }
    }

    /// Whether it may be sent again when a connection of the pool has ended before a response. A request without
    /// default fields stands for a program that would have made a new connection, and sent it once: only what asks for
    /// no change is repeated.
    var isRepeatable: Bool { hasDefaultFields ? method.isIdempotent : method.isSafe }

    /// Whether a connection of the pool may be used that the server may have closed. If a request without default
    /// fields could not be sent again then, a failure that a new connection would not have is avoided.
    var mayRepeat: Bool {
        if hasDefaultFields { return true }
        if case .source = body { return false }
        return isRepeatable
    }

    /// Whether its fields say that the connection closes after the response. A request must not use a connection on
    /// which `close` was sent (RFC 9112, section 9.6).
    var closesConnection: Bool {
        guard !hasDefaultFields else { return false }
        return fields.contains { field in
            guard field.isNamed("connection") else { return false }
            return field.value.split(separator: ",").contains { word in
                FieldName.matches(HTTPField.trimmed(String(word)), "close")
            }
        }
    }

    /// Whether its connection may carry several requests at once: then it must not wait for a reader on it.
    public var mayMultiplex: Bool { url.origin.scheme == "https" && httpVersion != .http1 }

    /// The value of its first `Host` field in lower case, if it is not the URL's authority.
    public var differentHost: String? {
        guard let host = fields.first(where: { $0.isNamed("host") })?.value.lowercased() else { return nil }
        let origin = url.origin
        let isDefault = origin.port == (origin.scheme == "https" ? 443 : 80)
        return host == "\(origin.host):\(origin.port)" || isDefault && host == origin.host ? nil : host
    }

    /// The fields that are sent: also those that are never shown.
    var sentFields: [HTTPField] {
        let fields = hasDefaultFields ? fields : framedFields
        guard let cookie = hopFields?.cookie else { return fields }
        guard !hasDefaultFields, let place = hopFields?.cookiePlace, place < fields.count else {
            return fields + [cookie]
        }
        return fields[..<place] + [cookie] + fields[place...]
    }

    /// The fields with the length that the body has, at the place of `Content-Length`: none if the body is sent in
    /// chunks. A wrong one would pass a part of the body to the origin as another request.
    private var framedFields: [HTTPField] {
        let isChunked = body.lengthBytes == nil || fields.contains { $0.isNamed("transfer-encoding") }
        var hasLength = false
        return fields.compactMap { field in
            guard field.isNamed("content-length") else { return field }
            guard !isChunked, !hasLength, let length = body.lengthBytes else { return nil }
            hasLength = true
            return try? HTTPField(ofConnection: field.name, value: "\(length)")
        }
    }

    /// The partition of its connection: with its own `Host`, and without the settings of TLS if there is no TLS.
    public var connectionPartition: ConnectionPartition {
        var partition = url.origin.scheme == "https" ? partition : partition.withoutTLS
        partition.host = differentHost
        return partition
    }

    /// The origin whose connections it uses: the URL's, or that of an HTTP proxy to which the request goes as it is.
    var connectionOrigin: Origin { partition.proxyOrigin(for: url.origin) ?? url.origin }

    /// The host of the proxy that is connected to; `nil` without a proxy.
    public var firstProxyHost: String? { partition.proxy.map { ($0.preproxy ?? $0).host } }

    /// Whether its connection begins with TLS: to the URL's host, or to the proxy.
    var usesTLS: Bool { url.origin.scheme == "https" || partition.proxy?.kind == .https }

    /// Whether the body is decoded: not if an `Accept-Encoding` field replaces the default one, as its caller wants
    /// the encoded bytes.
    public var isDecoded: Bool {
        decodesContent && !keepsTransferCoding
            && !(hasDefaultFields && fields.contains { $0.isNamed("accept-encoding") })
    }
}

/// The fields of one hop that its origin or its proxy must know, and that no other hop has. An object, because every
/// copy of a request has a reference to it, and few have one.
public final class HopFields: Sendable {
    /// The value of `Authorization`, for the origin. Bytes, because a server gets back what it has sent, also what is
    /// not UTF-8.
    public let authorization: [UInt8]?
    /// The value of `Proxy-Authorization`, for a proxy that gets the request as it is.
    public let proxyAuthorization: [UInt8]?
    /// `Cookie`, for the origin.
    public let cookie: HTTPField?
    /// How many fields of a request without default fields come before ``cookie``; `nil` for all.
    let cookiePlace: Int?

    /// Makes them; `nil` if there is none. A value with control characters is left out.
    public init?(
        authorization: [UInt8]?, proxyAuthorization: [UInt8]?, cookie: HTTPField?, cookiePlace: Int? = nil
    ) {
        let authorization = authorization.flatMap { HopFields.isValue($0) ? $0 : nil }
        let proxyAuthorization = proxyAuthorization.flatMap { HopFields.isValue($0) ? $0 : nil }
        guard authorization != nil || proxyAuthorization != nil || cookie != nil else { return nil }
        self.authorization = authorization
        self.proxyAuthorization = proxyAuthorization
        self.cookie = cookie
        self.cookiePlace = cookiePlace
    }

    /// Those that are kept after the hop: not what authenticates it.
    public var kept: HopFields? {
        guard authorization != nil || proxyAuthorization != nil else { return self }
        return HopFields(authorization: nil, proxyAuthorization: nil, cookie: cookie)
    }

    private static func isValue(_ bytes: [UInt8]) -> Bool {
        bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}
