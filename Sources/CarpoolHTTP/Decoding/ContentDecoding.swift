/// Which bodies of the responses to a request are decoded.
public struct ContentDecoding: Hashable, Sendable {
    /// Whether the request asks for content codings, and what it gets is decoded.
    public let isAskedFor: Bool
    /// Whether what was encoded unasked is decoded.
    let decodesUnasked: Bool
    /// Whether a compressed file whose own format is named as its coding stays as it is.
    let keepsFiles: Bool

    /// No body is.
    static let none = ContentDecoding(isAskedFor: false, decodesUnasked: false, keepsFiles: false)

    /// A number that no other value has.
    public var number: UInt8 { (isAskedFor ? 1 : 0) | (decodesUnasked ? 2 : 0) | (keepsFiles ? 4 : 0) }

    /// Whether the body of a response with these fields is decoded, if it has codings and they are known.
    public func applies(to fields: FieldBlock, of url: HTTPURL) -> Bool {
        (isAskedFor || decodesUnasked) && !(keepsFiles && ContentCoding.isOfFile(fields, url))
    }
}

extension TransportRequest {
    /// Which bodies are decoded.
    public var decoding: ContentDecoding {
        ContentDecoding(isAskedFor: isDecoded, decodesUnasked: decodesUnasked, keepsFiles: keepsFiles)
    }

    /// Whether a body with these fields is decoded, if its codings are known.
    public func decodes(_ head: FieldBlock) -> Bool { decoding.applies(to: head, of: url) }
}
