public import CarpoolHTTP

/// One try of a request from its first hop to its last.
public struct Attempt {
    /// What was made of the parameters, before any adapter saw it; `nil` if they make no request.
    public var initialRequest: TransportRequest? { unadapted ?? request }
    /// The same, where there are adapters: elsewhere it would only be copied about.
    var unadapted: TransportRequest?
    /// What was to be sent; `nil` if an adapter failed.
    public internal(set) var request: TransportRequest?
    /// The head of its final response.
    public internal(set) var response: ResponseHead?
    /// The hops in order: more than one where the origin redirected.
    public internal(set) var hops: [Hop] = []
    /// Why it failed, if it did.
    public internal(set) var error: SessionError?

    /// Lets go of what was to be sent, but for a file and for bytes up to a number. Returns whether the body of the request has gone.
    @discardableResult mutating func letGoOfBodies(keepingBytes limit: Int) -> Bool {
        if unadapted != nil { unadapted?.body = .none }
        switch request?.body {
        case .bytes(let bytes) where bytes.count <= limit: return false
        case .source(let source): source.close()
        case .bytes: break
        case .file where limit == 0: break
        case .file, .some(.none), nil: return false
        }
        request?.body = .none
        return true
    }
}

/// One request on the network and its response.
public struct Hop {
    /// What was sent.
    public let method: HTTPMethod
    /// Where it was sent.
    public let url: HTTPURL
    /// The head of the response, if one came.
    public internal(set) var response: ResponseHead?
    /// What it cost, once it is over.
    public internal(set) var metrics: TransferMetrics?

    init(method: HTTPMethod, url: HTTPURL) {
        self.method = method
        self.url = url
    }
}
