/// One event of an event stream.
public struct ServerSentEvent: Equatable, Sendable {
    /// The event type; `message` if the stream names none.
    public var type: String
    /// The data: the `data` lines, joined by LF.
    public var data: String
    /// The last event id of the stream so far; empty for none.
    public var id: String
    /// The reconnection delay, in milliseconds, if the stream has sent one since the previous event.
    public var retryMilliseconds: Int?

    /// The bytes of names and brackets around its parts.
    private static let frameBytes = 64

    /// An upper bound for the bytes of its JSON form.
    var encodedBytes: Int {
        type.encodedBytes &+ data.encodedBytes &+ id.encodedBytes &+ ServerSentEvent.frameBytes
    }
}
