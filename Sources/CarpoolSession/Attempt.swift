public import CarpoolHTTP

/// One try of a request from its first hop to its last.
public struct Attempt {
    /// The hops in order: more than one where the origin redirected.
    public internal(set) var hops: [Hop] = []
    /// Why it failed, if it did.
    public internal(set) var error: SessionError?
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
