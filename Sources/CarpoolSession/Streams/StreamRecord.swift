public import CarpoolJSON

/// One record of a stream, or the failure in its place.
public struct StreamRecord: Sendable {
    /// The content of a record.
    public enum Content: Equatable, Sendable {
        /// Bytes as they came.
        case bytes([UInt8])
        /// A piece of text, or a line.
        case text(String)
        /// A JSON text.
        case json(JSONText)
        /// A server-sent event.
        case event(ServerSentEvent)
    }

    /// The content, or the failure.
    public let result: Result<Content, SessionError>
    /// How many bytes of the stream it consumed, including what was skipped before it.
    public let sizeBytes: Int

    init(_ content: Content, sizeBytes: Int) {
        result = .success(content)
        self.sizeBytes = sizeBytes
    }

    init(_ error: SessionError, sizeBytes: Int) {
        result = .failure(error)
        self.sizeBytes = sizeBytes
    }

    /// An upper bound for the bytes of its JSON form; a failure's is short.
    var encodedBytes: Int {
        switch result {
        case .failure: 0
        case .success(.bytes(let bytes)): Base64.encodedLength(of: bytes.count)
        case .success(.text(let text)): text.encodedBytes
        case .success(.json(let json)): json.bytes.count
        case .success(.event(let event)): event.encodedBytes
        }
    }
}

extension String {
    /// The bytes of its JSON form, quotes included.
    var encodedBytes: Int {
        var text = self
        return text.withUTF8 { JSONWriter.encodedLength(ofText: UnsafeRawBufferPointer($0)) }
    }
}
