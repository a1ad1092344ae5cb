internal import CarpoolHTTP

/// Decodes a body as text (RS-04).
public struct StringResponseSerializer: ResponseSerializer {
    /// How the encoding of a text is chosen.
    public enum Encoding: Sendable {
        /// As in the model: the `charset` of the response if it is a Unicode form or ISO-8859-1, else ISO-8859-1. UTF-8
        /// without a `charset` is decoded wrongly.
        case charset
        /// A byte order mark decides, then the `charset` if it is known here; without either the text is UTF-8 if it is
        /// valid UTF-8, else ISO-8859-1.
        case automatic
        /// This encoding, whatever the response says.
        case explicit(TextEncoding)
    }

    private let encoding: Encoding
    private let input: SerializerInput

    /// Makes the serializer.
    public init(encoding: Encoding = .charset, input: SerializerInput = SerializerInput()) {
        self.encoding = encoding
        self.input = input
    }

    /// `string`
    public var name: String { "string" }
    /// A failure is passed to the retriers.
    public var isTyped: Bool { true }

    /// Returns the text; an empty one for an empty body that is allowed. Fails with
    /// `response_serialization_failed.string_serialization_failed` for invalid bytes.
    public func serialize(_ request: Request, completion: @escaping (Result<SerializedValue, SessionError>) -> Void) {
        let charset = request.response?.fields.first("content-type").flatMap(MIMEType.charset)
        input.serialize(request, completion: completion) { [encoding] (bytes) throws(SessionError) in
            guard let bytes else { return .string("") }
            let encoding = encoding.form(of: bytes, charset: charset)
            guard let text = encoding.decode(bytes) else { throw .stringSerializationFailed(encoding) }
            return .string(text)
        }
    }
}

extension StringResponseSerializer.Encoding {
    fileprivate func form(of bytes: [UInt8], charset: String?) -> TextEncoding {
        switch self {
        case .explicit(let encoding): return encoding
        case .charset: return charset.flatMap(TextEncoding.init(modelCharset:)) ?? .latin1
        case .automatic:
            let known = TextEncoding.byteOrderMark(of: bytes) ?? charset.flatMap(TextEncoding.init(charset:))
            return known ?? (TextEncoding.utf8.decode(bytes) == nil ? .latin1 : .utf8)
        }
    }
}
