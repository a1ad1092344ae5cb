public import CarpoolHTTP

/// One try of a request from its first hop to its last.
public struct Attempt {
    /// The request made from the parameters, before the adapters; `nil` if the parameters make no request.
    public var initialRequest: TransportRequest? { unadapted ?? request }
    /// The request before the adapters; `nil` where there are none, which saves a copy.
    var unadapted: TransportRequest?
    /// The request to send, after the adapters; `nil` if an adapter failed.
    public internal(set) var request: TransportRequest?
    /// The head of its final response.
    public internal(set) var response: ResponseHead?
    /// The hops in order: more than one where the origin redirected.
    public internal(set) var hops: [Hop] = []
    /// The error of the attempt, if it failed.
    public internal(set) var error: SessionError?

    /// How many of the hops were answered with a redirect.
    var redirects: Int { hops.count { (300..<400).contains($0.response?.status ?? 0) } }

    /// Releases the bodies of the requests, except for a file and for bytes up to a limit. Returns whether the body of
    /// the request was released.
    @discardableResult mutating func releaseBodies(keepingBytes limit: Int) -> Bool {
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

    /// The fields that were sent for this hop alone.
    let fields: HopFields?

    init(method: HTTPMethod, url: HTTPURL, fields: HopFields? = nil) {
        self.method = method
        self.url = url
        self.fields = fields
    }

    /// Whether cookies were sent from a jar.
    public var hasCookies: Bool { fields?.cookie != nil }

    /// Calls the body with the names of the cookies that were sent from a jar, in order, as UTF-8. The values stay
    /// secret; a cookie without a name has an empty one.
    public func forEachCookieName(_ body: (UnsafeRawBufferPointer) -> Void) {
        guard var value = fields?.cookie?.value else { return }
        value.withUTF8 { bytes in
            for pair in UnsafeRawBufferPointer(bytes).split(separator: UInt8(ascii: ";")) {
                let trimmed = pair.drop { $0 == 0x20 }
                let equals = trimmed.firstIndex(of: UInt8(ascii: "="))
                let name = trimmed[..<(equals ?? trimmed.startIndex)]
                body(UnsafeRawBufferPointer(rebasing: name))
            }
        }
    }
}
