internal import CarpoolJSON

/// Encodes parameters as a JSON body (PE-12, FE-05): by default compact and in the order given.
///
/// Bytes become a string of base64, points in time the seconds since 2001-01-01T00:00:00Z, as in the model. A real is
/// written in the shortest form that reads back the same, and `1.0` stays a real. A slash is not escaped: the model
/// writes `\/`, which means the same (RFC 8259, section 7) and helps only a text inside HTML.
public struct JSONParameterEncoder: Sendable, Equatable {
    /// Whether every value is on a line of its own, indented by two spaces for each level.
    public var pretty: Bool
    /// Whether the members of objects are sorted by their names, at every level.
    public var sortedKeys: Bool

    /// Makes an encoder.
    public init(pretty: Bool = false, sortedKeys: Bool = false) {
        self.pretty = pretty
        self.sortedKeys = sortedKeys
    }

    /// The JSON text, as UTF-8.
    /// - Throws: `parameter_encoding_failed.json_encoding_failed` for values that JSON lacks: infinities, NaN, and
    ///   decimals that are not numbers.
    public func encode(_ value: StructuredValue) throws(SessionError) -> [UInt8] {
        var writer = JSONWriter()
        do throws(EncodingFailure) {
            try write(value, to: &writer)
        } catch {
            throw .jsonEncodingFailed(error)
        }
        return pretty ? JSONLayout.indented(writer.bytes) : writer.bytes
    }

    private func write(_ value: StructuredValue, to writer: inout JSONWriter) throws(EncodingFailure) {
        switch value {
        case .array(let elements):
            writer.beginArray()
            for element in elements { try write(element, to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for member in sortedKeys ? members.sorted(by: { $0.name < $1.name }) : members {
                writer.key(member.name)
                try write(member.value, to: &writer)
            }
            writer.endObject()
        case .real(let real):
            guard real.isFinite else { throw .invalidJSONObject("JSON has no \(real)") }
            writer.real(real)
        case .date(let seconds): try write(.real(DateValue.sinceReferenceDate(seconds)), to: &writer)
        case .data(let bytes): bytes.withUnsafeBytes { writer.base64($0) }
        case .decimal(let text), .number(let text):
            guard NumberText.isValid(text) else { throw .invalidNumber(text) }
            writer.raw(Array(text.utf8))
        default: writer.structured(value)
        }
    }
}
