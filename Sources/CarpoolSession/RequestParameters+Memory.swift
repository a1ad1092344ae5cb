internal import CarpoolHTTP

extension RequestParameters {
    /// How many bytes of memory its body takes until the request is over: what came with the request, and room for what somebody gives
    /// meanwhile. Files are read as they are sent and take none.
    public var bodyMemoryBytes: Int {
        let given =
            switch body {
            case .none, .file: 0
            case .bytes(let bytes): bytes.count
            case .source(let source): source is BodyFeed ? BodyFeed.standardCapacityBytes : 0
            }
        return given &+ (uploadable?.memoryBytes ?? 0) &+ (encodedParameters?.memoryBytes ?? 0)
    }
}
