internal import CarpoolJSON

/// Parses a body as JSON (RS-05). Any value may be at the top level; an object with a duplicate name is rejected.
public struct JSONResponseSerializer: ResponseSerializer {
    private let input: SerializerInput
    private let keepsText: Bool

    /// Makes the serializer. With `keepsText` the value is ``SerializedValue/jsonText(_:)``: numbers keep their
    /// spelling, at a tenth of the cost.
    public init(input: SerializerInput = SerializerInput(), keepsText: Bool = false) {
        self.input = input
        self.keepsText = keepsText
    }

    /// `json`
    public var name: String { "json" }
    /// A failure is passed to the retriers.
    public var isTyped: Bool { true }

    /// Returns the value; `null` for an empty body that is allowed. Fails with
    /// `response_serialization_failed.json_serialization_failed`, whose cause contains line and column.
    public func serialize(_ request: Request, completion: @escaping (Result<SerializedValue, SessionError>) -> Void) {
        input.serialize(request, completion: completion) { [keepsText] (bytes) throws(SessionError) in
            let text = try bytes.map { (bytes) throws(SessionError) in try Self.utf8(bytes) } ?? Array("null".utf8)
            do throws(JSONError) {
                return keepsText ? .jsonText(try JSONText(text)) : .json(try JSON.parse(text))
            } catch {
                throw .jsonSerializationFailed(error)
            }
        }
    }

    /// The text as UTF-8 for the parser, without a byte order mark.
    private static func utf8(_ bytes: [UInt8]) throws(SessionError) -> [UInt8] {
        switch encoding(of: bytes) {
        case .utf8: return TextEncoding.byteOrderMark(of: bytes) == nil ? bytes : Array(bytes.dropFirst(3))
        case let encoding:
            guard let text = encoding.decode(bytes) else { throw .jsonSerializationFailed(encoding) }
            return Array(text.utf8)
        }
    }

    /// Detects the encoding by a byte order mark, or else by the zeros among the first bytes (RFC 4627, section 3): a
    /// JSON text begins with an ASCII character. The response's `charset` is ignored, since JSON defines none (RFC
    /// 8259, section 11).
    private static func encoding(of bytes: [UInt8]) -> TextEncoding {
        if let marked = TextEncoding.byteOrderMark(of: bytes) { return marked }
        func isZero(_ place: Int) -> Bool { place < bytes.count && bytes[place] == 0 }
        guard bytes.count >= 2 else { return .utf8 }
        switch (isZero(0), isZero(1), isZero(2), isZero(3)) {
        case (true, true, true, false) where bytes.count >= 4: return .utf32BigEndian
        case (false, true, true, true): return .utf32LittleEndian
        case (true, false, _, _): return .utf16BigEndian
        case (false, true, _, _): return .utf16LittleEndian
        default: return .utf8
        }
    }
}
