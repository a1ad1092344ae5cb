internal import CarpoolJSON

/// The bytes of one message, and where its parts stand if that is known.
public struct MessageText: Sendable {
    /// The bytes, without their frame.
    public let bytes: [UInt8]
    /// What the framer found on its way to the end of the message; `nil` if the message has to be read first.
    let outline: JSONOutline?

    /// A message that has not been read.
    public init(_ bytes: [UInt8]) { self.init(bytes, outline: nil) }

    init(_ bytes: [UInt8], outline: JSONOutline?) {
        self.bytes = bytes
        self.outline = outline
    }
}

extension MessageText: Equatable {
    /// Whether the bytes are the same.
    public static func == (left: MessageText, right: MessageText) -> Bool { left.bytes == right.bytes }
}
