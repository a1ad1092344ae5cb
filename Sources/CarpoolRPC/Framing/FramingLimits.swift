/// Limits for messages of a peer.
public struct FramingLimits: Sendable {
    /// The largest message, in bytes. A larger one would hold the loop for tens of milliseconds while it is parsed.
    public var messageBytes = 1_048_576
    /// The deepest nesting of brackets; at most 64, what one word remembers.
    public var depth = 64
    /// The largest block of headers before a message, in bytes; `Content-Length` needs a few dozen.
    public var headerBytes = 4_096

    /// The defaults, with another maximum for a message.
    public init(messageBytes: Int = 1_048_576) { self.messageBytes = messageBytes }
}
