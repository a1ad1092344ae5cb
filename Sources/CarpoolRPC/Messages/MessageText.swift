internal import CarpoolJSON

/// The bytes of one message, and the positions of its parts if they are known.
public struct MessageText: Sendable {
    /// The bytes, without their frame.
    public let bytes: [UInt8]
    /// The positions of the parts, which the framer found while it searched the end of the message; `nil` if the
    /// message has not been read.
    let outline: JSONOutline?

    /// A message that has not been read.
    public init(_ bytes: [UInt8]) { self.init(bytes, outline: nil) }

    init(_ bytes: [UInt8], outline: JSONOutline?) {
        self.bytes = bytes
        self.outline = outline
    }

    /// The same message, read.
    /// - Throws: `parse_error` if it is not JSON.
    public func read() throws(RPCError) -> MessageText {
        guard outline == nil else { return self }
        do throws(JSONError) {
            let outline = try bytes.withBytes { (text) throws(JSONError) in try JSONTokenizer.outline(of: text) }
            return MessageText(bytes, outline: outline)
        } catch {
            throw .parseError(error)
        }
    }

    /// Whether it holds several messages.
    public var isBatch: Bool {
        guard let outline else { return false }
        return bytes.withUnsafeBytes { outline.root.bytes(of: $0).first } == UInt8(ascii: "[")
    }

    /// The number of its bytes outside of large strings, which stay text; all bytes if it has not been read.
    public var structureBytes: Int { outline?.structureBytes(of: bytes) ?? bytes.count }
}

extension MessageText: Equatable {
    /// Whether the bytes are the same.
    public static func == (left: MessageText, right: MessageText) -> Bool { left.bytes == right.bytes }
}
