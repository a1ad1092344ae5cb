internal import CarpoolJSON

/// What a peer has sent in one piece.
public enum RPCInput {
    /// One message.
    case single(RPCMessage)
    /// Several (JSON-RPC 2.0 §6), answered in one array when the last answer is there.
    case batch([RPCMessage])
    /// Nothing that could be answered but with this error and `id` null.
    case failure(RPCError)

    /// The most messages in a batch: its answers are held until the last one is there.
    public static let maximumBatch = 100

    /// Reads what the framer cut out.
    public static func parse(_ bytes: [UInt8]) -> RPCInput { parse(MessageText(bytes)) }

    /// Reads what the framer cut out.
    public static func parse(_ message: MessageText) -> RPCInput {
        if let outline = message.outline { return read(message.bytes, outline) }
        do throws(JSONError) {
            return read(message.bytes, try outline(of: message.bytes))
        } catch {
            return .failure(.parseError(error))
        }
    }

    private static func outline(of text: [UInt8]) throws(JSONError) -> JSONOutline {
        try text.withBytes { (bytes) throws(JSONError) in try JSONTokenizer.outline(of: bytes) }
    }

    private static func read(_ text: [UInt8], _ outline: JSONOutline) -> RPCInput {
        text.withUnsafeBytes { outline.root.bytes(of: $0).first } == UInt8(ascii: "[")
            ? batch(text, outline) : .single(RPCMessage(text, outline))
    }

    private static func batch(_ text: [UInt8], _ outline: JSONOutline) -> RPCInput {
        guard outline.partCount > 0 else { return .failure(.invalidRequest("an empty batch")) }
        guard outline.partCount <= maximumBatch else {
            return .failure(.invalidRequest("a batch of \(outline.partCount) messages; there may be \(maximumBatch)"))
        }
        var messages: [RPCMessage] = []
        messages.reserveCapacity(outline.partCount)
        for index in 0..<outline.partCount {
            guard let part = outline.part(index) else { continue }
            let element = text.withUnsafeBytes { Array(part.value.bytes(of: $0)) }
            // It has been read as a part of the batch.
            guard let own = try? self.outline(of: element) else { continue }
            messages.append(RPCMessage(element, own))
        }
        return .batch(messages)
    }
}

@available(*, unavailable)
extension RPCInput: Sendable {}
