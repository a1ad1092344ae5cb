internal import CarpoolJSON

extension SerializedValue {
    /// The value as its JSON text, as ``CarpoolJSON/JSONWriter/structured(_:)`` writes it; ``omitted`` if the text is
    /// longer than the limit.
    func written(atMost limit: Int) -> SerializedValue {
        var writer = JSONWriter()
        switch self {
        case .none, .omitted: return self
        case .jsonText(let text): return text.bytes.count <= limit ? self : .omitted
        case .json(let json): writer.value(json)
        case .structured(let value): writer.structured(value)
        case .string(let text):
            guard text.utf8.count <= limit else { return .omitted }
            writer.string(text)
        case .data(let bytes):
            guard Base64.encodedLength(of: bytes.count) <= limit else { return .omitted }
            writer.structured(.data(bytes))
        }
        return writer.count <= limit ? .jsonText(JSONText(writer)) : .omitted
    }
}
