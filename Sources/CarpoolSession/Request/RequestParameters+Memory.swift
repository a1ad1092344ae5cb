internal import CarpoolHTTP

extension RequestParameters {
    /// How many bytes of memory its body takes until the request is over: what came with the request, and room for what somebody gives
    /// meanwhile. Files are read as they are sent and take none.
    public var bodyMemoryBytes: Int { givenBytes &+ feedBytes }

    /// How many bytes of memory a request takes that came with a call of so many bytes: its body, and its fields, tags and other members.
    ///
    /// The call is counted, and not each member: what is text or bytes takes about its length there. Lists of many short fields take several
    /// times that, and so they are counted besides; other lists of short members take up to about four times their text.
    /// - Parameter sessionFields: how many fields the session adds. Their texts are the session's, the list is each request's own.
    public func memoryBytes(callBytes: Int, sessionFields: Int = 0) -> Int {
        var bytes = givenBytes
        if callBytes > RequestParameters.uncountedCallBytes {
            bytes = max(bytes, callBytes &- RequestParameters.uncountedCallBytes)
        }
        bytes &+= feedBytes
        let fieldCount = fields.count &+ sessionFields
        guard fieldCount > RequestParameters.uncountedFields else { return bytes }
        // The fields of the call, and those of the request that is made of them.
        return bytes &+ (fields.count &+ fieldCount) &* MemoryLayout<HTTPField>.stride
    }

    /// Fields whose lists are not counted: 2 KiB of them.
    private static let uncountedFields = 64

    /// What is not counted of a call: most are shorter, and their number is bounded.
    public static let uncountedCallBytes = 2_048

    /// Bytes that came with the request.
    private var givenBytes: Int {
        let given = if case .bytes(let bytes) = body { bytes.count } else { 0 }
        return given &+ (uploadable?.memoryBytes ?? 0) &+ (encodedParameters?.memoryBytes ?? 0)
    }

    /// Room for the pieces of a body that a client sends meanwhile.
    private var feedBytes: Int {
        guard case .source(let source) = body, source is BodyFeed else { return 0 }
        return BodyFeed.standardCapacityBytes
    }
}
