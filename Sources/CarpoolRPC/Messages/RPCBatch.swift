internal import CarpoolJSON

/// The messages of a batch. Each one is parsed when it is accessed, so that only the message that is being handled has
/// a tree.
public struct RPCBatch: RandomAccessCollection, Sendable {
    private let bytes: [UInt8]
    private let outline: JSONOutline

    /// A batch that has been read.
    init(_ bytes: [UInt8], _ outline: JSONOutline) {
        self.bytes = bytes
        self.outline = outline
    }

    /// The index of the first message.
    public var startIndex: Int { 0 }
    /// The index after the last message.
    public var endIndex: Int { outline.partCount }

    /// The text of a message, which is JSON.
    public func text(at index: Int) -> MessageText {
        guard let part = outline.part(index) else { return MessageText([]) }
        return MessageText(bytes.withUnsafeBytes { Array(part.value.bytes(of: $0)) })
    }

    /// A message.
    public subscript(index: Int) -> RPCMessage { RPCMessage(text(at: index)) }
}
