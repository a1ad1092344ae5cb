/// Writes one value with one encoder, and counts what it writes.
struct FormWriter {
    private let encoder: URLEncodedFormEncoder
    /// Names count even where no value is written, since composing them costs as much.
    private var bytesLeft = URLEncodedFormEncoder.maximumBytes

    init(_ encoder: URLEncodedFormEncoder) { self.encoder = encoder }

    mutating func text(of members: [StructuredValue.Member]) throws(EncodingFailure) -> String {
        var members = members
        if encoder.sort == .keys { members.sort { $0.name < $1.name } }
        var segments: [String] = []
        for member in members { try append(member.value, key: member.name, to: &segments) }
        return joined(segments)
    }

    /// Appends the pairs of a value, joined, or nothing if it has none.
    private mutating func append(
        _ value: StructuredValue, key: String, to segments: inout [String]
    ) throws(EncodingFailure) {
        try count(key)
        let text: String
        switch value {
        case .array(let elements): text = try array(elements, key: key)
        case .object(let members): text = try object(members, key: key)
        case .data(let bytes):
            if case .deferredToData = encoder.data {
                text = try array(bytes.map { .integer(Int64($0)) }, key: key)
            } else {
                text = pair(key, try scalar(value) ?? "")
            }
        default:
            guard let content = try scalar(value) else { return }
            text = pair(key, content)
        }
        if !text.isEmpty { segments.append(text) }
    }

    private mutating func object(
        _ members: [StructuredValue.Member], key: String
    ) throws(EncodingFailure) -> String {
        var segments: [String] = []
        for member in members {
            try append(member.value, key: key + encoder.keyPath.text(for: member.name), to: &segments)
        }
        return joined(segments)
    }

    private mutating func array(_ elements: [StructuredValue], key: String) throws(EncodingFailure) -> String {
        if case .comma = encoder.array, !elements.contains(where: isContainer) { return try list(elements, key: key) }
        var segments: [String] = []
        for element in elements { try append(element, key: elementName(segments.count, in: key), to: &segments) }
        return joined(segments)
    }

    /// One pair, with commas between the elements.
    private mutating func list(_ elements: [StructuredValue], key: String) throws(EncodingFailure) -> String {
        var contents: [String] = []
        for element in elements {
            if let content = try scalar(element) { contents.append(escaped(content)) }
        }
        return contents.isEmpty ? "" : "\(name(key))=\(contents.joined(separator: ","))"
    }

    private func isContainer(_ value: StructuredValue) -> Bool {
        switch value {
        case .array, .object: return true
        case .data:
            if case .deferredToData = encoder.data { return true }
            return false
        default: return false
        }
    }

    private func elementName(_ index: Int, in key: String) -> String {
        switch encoder.array {
        case .brackets, .comma: "\(key)[]"
        case .noBrackets: key
        case .indexInBrackets: "\(key)[\(index)]"
        case .custom(let convert): convert(key, index)
        }
    }

    private func joined(_ segments: [String]) -> String {
        (encoder.sort == .pairs ? segments.sorted() : segments).joined(separator: "&")
    }

    private func pair(_ key: String, _ content: String) -> String { "\(name(key))=\(escaped(content))" }

    private func name(_ key: String) -> String { escaped(encoder.key.encode(key)) }

    private mutating func count(_ text: String) throws(EncodingFailure) {
        bytesLeft &-= text.utf8.count
        guard bytesLeft >= 0 else { throw .tooLarge(URLEncodedFormEncoder.maximumBytes) }
    }

    private func escaped(_ text: String) -> String {
        encoder.allowedCharacters.percentEncode(text, spaceAsPlus: encoder.space == .plusReplaced)
    }

    /// The text of a scalar value; `nil` if it is not to be written.
    private mutating func scalar(_ value: StructuredValue) throws(EncodingFailure) -> String? {
        guard let text = try text(value) else { return nil }
        try count(text)
        return text
    }

    /// Reals as Swift describes them, decimals in their shortest form (FE-17), numbers that came as text unchanged.
    private func text(_ value: StructuredValue) throws(EncodingFailure) -> String? {
        switch value {
        case .null: return encoder.null.text
        case .bool(let bool): return encoder.bool == .numeric ? (bool ? "1" : "0") : (bool ? "true" : "false")
        case .integer(let integer): return integer.description
        case .unsigned(let integer): return integer.description
        case .real(let real): return real.description
        case .decimal(let text):
            guard let decimal = DecimalText(text) else { throw .invalidNumber(text) }
            return decimal.description
        case .number(let text):
            guard NumberText.isValid(text) else { throw .invalidNumber(text) }
            return text
        case .string(let string): return string
        case .data(let bytes):
            if case .custom(let convert) = encoder.data { return try EncodingFailure.catching { try convert(bytes) } }
            return bytes.base64
        case .date(let seconds): return try encoder.date.text(for: seconds)
        case .array, .object: return nil
        }
    }
}
