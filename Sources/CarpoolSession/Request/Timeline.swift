/// The times of the steps of a request, in microseconds since 1970 (session model §1.13). `nil` for what has not
/// happened.
public struct Timeline: Sendable {
    /// The first attempt began.
    public internal(set) var requestStart: Int64?
    /// The last attempt's response began to arrive.
    public internal(set) var initialResponse: Int64?
    /// The last attempt ended, and no retry followed.
    public internal(set) var requestCompleted: Int64?
    /// The last serializer finished.
    public internal(set) var serializationCompleted: Int64?

    /// From the start to the first byte of the response, in microseconds.
    public var latency: Int64? { Timeline.span(requestStart, initialResponse) }
    /// From the start to the end of the last attempt, in microseconds.
    public var requestDuration: Int64? { Timeline.span(requestStart, requestCompleted) }
    /// The duration of the serializers, in microseconds.
    public var serializationDuration: Int64? { Timeline.span(requestCompleted, serializationCompleted) }
    /// From the start to the end of the last serializer, in microseconds.
    public var totalDuration: Int64? { Timeline.span(requestStart, serializationCompleted) }

    /// Never negative, because the wall clock may be set back in between.
    private static func span(_ start: Int64?, _ end: Int64?) -> Int64? {
        guard let start, let end else { return nil }
        return max(0, end &- start)
    }
}
