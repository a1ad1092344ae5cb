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

    /// Parses what the framer cut out.
    public static func parse(_ bytes: [UInt8]) -> RPCInput {
        bytes.withUnsafeBytes { text in
            if let request = PlainRequest.read(text) { return .single(.request(request)) }
            do throws(JSONError) {
                let json = try JSON.parse(text)
                return json.kind == .array ? batch(json, text: text) : .single(RPCMessage(json, text: text))
            } catch {
                return .failure(.parseError(error))
            }
        }
    }

    private static func batch(_ json: JSON, text: UnsafeRawBufferPointer) -> RPCInput {
        guard json.count > 0 else { return .failure(.invalidRequest("an empty batch")) }
        guard json.count <= maximumBatch else {
            return .failure(.invalidRequest("a batch of \(json.count) messages; there may be \(maximumBatch)"))
        }
        var texts = RawJSON.elements(of: text).makeIterator()
        var messages: [RPCMessage] = []
        json.forEachElement { element in
            guard let text = texts.next() else { return }
            messages.append(RPCMessage(element, text: text))
        }
        return .batch(messages)
    }
}

@available(*, unavailable)
extension RPCInput: Sendable {}
