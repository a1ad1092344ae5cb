/// Limits for messages of a peer.
public struct FramingLimits: Sendable {
    /// Maximum size of a message, in bytes. Parsing a larger one would block the loop for tens of milliseconds.
    public var messageBytes = 1_048_576
    /// Maximum depth of nested brackets; at most 64, the bits of a machine word.
    public var depth = 64
    /// Maximum size of the headers before a message, in bytes; `Content-Length` needs a few dozen.
    public var headerBytes = 4_096

    /// The defaults, with another maximum for a message.
    public init(messageBytes: Int = 1_048_576) { self.messageBytes = messageBytes }
}
