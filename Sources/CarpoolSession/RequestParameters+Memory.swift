internal import CarpoolHTTP

extension RequestParameters {
    /// How many bytes of memory its body takes until the request is over: what came with the request, and room for what somebody gives
    /// meanwhile. Files are read as they are sent and take none.
    public var bodyMemoryBytes: Int { givenBytes &+ feedBytes }

    /// How many bytes of memory a request takes that came with a call of so many bytes: its body, and its fields, tags and other members.
    ///
    /// Nothing that a request keeps of its call is much longer than its text there. So the call is counted, and not each member: a text of
    /// many short members takes several times its length, what is text or bytes once.
    public func memoryBytes(callBytes: Int) -> Int {
        let given = givenBytes
        guard callBytes > RequestParameters.uncountedCallBytes else { return given &+ feedBytes }
        return feedBytes &+ max(given, callBytes &- RequestParameters.uncountedCallBytes)
    }

    /// What is not counted of a call: most are shorter, and their number is bounded.
    public static let uncountedCallBytes = 2_048

    /// Bytes that came with the request.
    private var givenBytes: Int {
        let given = if case .bytes(let bytes) = body { bytes.count } else { 0 }
        return given &+ (uploadable?.memoryBytes ?? 0) &+ (encodedParameters?.memoryBytes ?? 0)
    }

    /// Room for what somebody gives meanwhile.
    private var feedBytes: Int {
        guard case .source(let source) = body, source is BodyFeed else { return 0 }
        return BodyFeed.standardCapacityBytes
    }
}
