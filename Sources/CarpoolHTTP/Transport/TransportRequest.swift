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

/// What is sent after the head of a request.
public enum RequestBody {
    /// No body, and no `Content-Length` but where the method calls for one (RFC 9110, section 8.6).
    case none
    /// Bytes in memory.
    case bytes([UInt8])
    /// A range of an open regular file. The file is kept open until the transfer ends.
    case file(BodyFile, offset: Int64, length: Int64)
    /// Whatever a source gives. It serves one transfer at a time.
    case source(any BodySource)
}

/// Which versions of HTTP a request may speak.
public enum HTTPVersionPolicy: String, Sendable, Hashable {
    /// HTTP/2 where TLS agrees on it and the library's version is fit for it, else HTTP/1.1.
    case automatic = "auto"
    /// HTTP/1.1 only.
    case http1 = "1.1"
    /// HTTP/2 where TLS agrees on it, also with a library that is not fit for many streams on a connection (one stream each, then).
    case http2 = "2"
}

/// What makes a connection unshareable: two requests may use one connection only if their partitions are equal.
public struct ConnectionPartition: Hashable, Sendable {
    /// How the server's certificate is judged.
    public enum Trust: Hashable, Sendable {
        /// The system's store of certificate authorities.
        case system
        /// The authorities in one PEM file, and no others. A file whose content has changed is another partition.
        case authorities(TrustedAuthorities)
        /// Not at all. Only on somebody's explicit request.
        case none
    }

    /// How the server's certificate is judged.
    public var trust: Trust = .system
    /// The user for whom the connection is made; `nil` for the process's own user. Users share neither connections nor TLS sessions nor
    /// looked-up names: each of the three would show one user what another does.
    public var user: UInt32?

    /// The common partition: the system's trust, the process's own user.
    public init(trust: Trust = .system, user: UInt32? = nil) {
        self.trust = trust
        self.user = user
    }
}

/// A place in the network that connections lead to.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// The host in lower case, an IPv6 address in brackets.
    public let host: String
    /// The port, also where it is the scheme's default.
    public let port: UInt16

    /// Makes an origin from its parts.
    public init(scheme: String, host: String, port: UInt16) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// `scheme://host:port`
    public var description: String { "\(scheme)://\(host):\(port)" }
}
