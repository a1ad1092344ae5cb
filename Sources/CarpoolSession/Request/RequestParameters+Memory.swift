internal import CarpoolHTTP

extension RequestParameters {
    /// The memory of the request's body until the request is over, in bytes: what came with the request, and room for
    /// pieces that the client sends later. Files are read as they are sent and take none.
    public var bodyMemoryBytes: Int { givenBytes &+ feedBytes }

    /// The memory of a request that came with a call of so many bytes: its body, fields, tags and other members.
    ///
    /// The call is counted as a whole: text or bytes take about their length in it. Lists of many short fields take
    /// several times that and are counted in addition; other lists of short members take up to about four times their
    /// text.
    /// - Parameter sessionFields: how many fields the session adds. Their texts belong to the session, the list to each
    ///   request.
    public func memoryBytes(callBytes: Int, sessionFields: Int = 0) -> Int {
        var bytes = givenBytes
        if callBytes > RequestParameters.uncountedCallBytes {
            bytes = max(bytes, callBytes &- RequestParameters.uncountedCallBytes)
        }
        bytes &+= feedBytes
        let fieldCount = fields.count &+ sessionFields
        guard fieldCount > RequestParameters.uncountedFields else { return bytes }
        // The fields of the call, and those of the request that is built from them.
        return bytes &+ (fields.count &+ fieldCount) &* MemoryLayout<HTTPField>.stride
    }

    /// Fields whose lists are not counted: 2 KiB of them.
    private static let uncountedFields = 64

    /// The bytes of a call that are not counted: most calls are shorter, and their number is bounded.
    public static let uncountedCallBytes = 2_048

    /// The bytes of the body that came with the request.
    private var givenBytes: Int {
        let given = if case .bytes(let bytes) = body { bytes.count } else { 0 }
        return given &+ (uploadable?.memoryBytes ?? 0) &+ (encodedParameters?.memoryBytes ?? 0)
            &+ (cookies?.memoryBytes ?? 0)
    }

    /// Room for the pieces of a body that a client sends later.
    private var feedBytes: Int {
        guard case .source(let source) = body, source is BodyFeed else { return 0 }
        return BodyFeed.standardCapacityBytes
    }
}
