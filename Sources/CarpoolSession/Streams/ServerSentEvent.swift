/// One event of an event stream.
public struct ServerSentEvent: Equatable, Sendable {
    /// Its type; `message` if the stream names none.
    public var type: String
    /// What it tells: its `data` lines, joined by LF.
    public var data: String
    /// The last `id` that the stream has named up to here; empty for none.
    public var id: String
    /// How long to wait before the stream is asked for again, in milliseconds, where the stream has said so since the event before.
    public var retryMilliseconds: Int?

    /// The names and brackets around its parts.
    private static let frameBytes = 64

    /// The bytes of its JSON form, at most.
    var encodedBytes: Int {
        type.encodedBytes &+ data.encodedBytes &+ id.encodedBytes &+ ServerSentEvent.frameBytes
    }
}
