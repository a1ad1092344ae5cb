public import CarpoolHTTP

/// What a request asks for. A member that is `nil` takes the session's value.
public struct RequestParameters {
    /// The method.
    public var method: HTTPMethod
    /// The URL as given; it is parsed when the request is performed, and a wrong one is the request's failure.
    public var url: String
    /// The request's own fields, in order.
    public var fields: [HTTPField] = []
    /// What is sent.
    public var body: RequestBody = .none
    /// How the server's certificate is judged.
    public var trust: ConnectionPartition.Trust?
    /// Which versions of HTTP may be spoken.
    public var httpVersion: HTTPVersionPolicy?
    /// What happens on a redirect.
    public var redirect: RedirectHandler?
    /// The three time limits, in milliseconds; see ``SessionConfiguration``.
    public var idleTimeoutMilliseconds: Int?
    /// The limit for the whole request.
    public var resourceTimeoutMilliseconds: Int?
    /// The limit for reaching the origin.
    public var connectTimeoutMilliseconds: Int?
    /// Whether the body is decoded, and by how much it may grow.
    public var decodesContent: Bool?
    /// The most decoded bytes per encoded byte.
    public var maximumDecodingRatio: Int?
    /// The most bytes of the response's body that are kept in memory; what is larger goes to a file of the spool. 0 means always a file.
    public var memoryLimitBytes = 45_056

    /// Makes parameters with every default.
    public init(method: HTTPMethod = .get, url: String) {
        self.method = method
        self.url = url
    }
}
