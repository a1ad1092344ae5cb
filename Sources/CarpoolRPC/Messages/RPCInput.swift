internal import CarpoolJSON

/// One message of a peer.
public enum RPCInput {
    /// One message.
    case single(RPCMessage)
    /// Several messages (JSON-RPC 2.0 §6), answered in one array when all are answered.
    case batch(RPCBatch)
    /// Invalid input, answered with this error and `id` null.
    case failure(RPCError)

    /// Maximum number of messages in a batch, whose responses are stored until the last one is complete.
    public static let maximumBatch = 100

    /// Reads a message from the framer.
    public static func parse(_ bytes: [UInt8]) -> RPCInput { parse(MessageText(bytes)) }

    /// Reads a message from the framer, or one message of a batch.
    public static func parse(_ message: MessageText, isInBatch: Bool = false) -> RPCInput {
        if let outline = message.outline { return read(message.bytes, outline, isInBatch: isInBatch) }
        do throws(RPCError) {
            return parse(try message.read(), isInBatch: isInBatch)
        } catch {
            return .failure(error)
        }
    }

    private static func read(_ text: [UInt8], _ outline: JSONOutline, isInBatch: Bool) -> RPCInput {
        let isArray = text.withUnsafeBytes { outline.root.bytes(of: $0).first } == UInt8(ascii: "[")
        guard isArray, !isInBatch else { return .single(RPCMessage(text, outline)) }
        guard outline.partCount > 0 else { return .failure(.invalidRequest("the batch is empty")) }
        guard outline.partCount <= maximumBatch else {
            return .failure(
                .invalidRequest("the batch has \(outline.partCount) messages; the maximum is \(maximumBatch)"))
        }
        return .batch(RPCBatch(text, outline))
    }
}

@available(*, unavailable)
extension RPCInput: Sendable {}
