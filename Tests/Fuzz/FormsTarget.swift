@testable import CarpoolSession

/// A form is made of characters that a query may hold, with any value and any options of the encoder; a flat form reads
/// back the same.
enum FormsTarget {
    static func run(_ input: UnsafeRawBufferPointer) {
        var choices = Choices(input)
        let encoder = self.encoder(&choices)
        let value = self.value(&choices, depth: 0)
        guard let text = try? encoder.encode(value) else { return }
        checkAlphabet(text, encoder)
        if case .object(let members) = value { checkReading(members, text, encoder) }
    }

    private static func encoder(_ choices: inout Choices) -> URLEncodedFormEncoder {
        var encoder = URLEncodedFormEncoder()
        encoder.sort = [.pairs, .keys, .given][choices.number(below: 3)]
        encoder.array = [.brackets, .noBrackets, .indexInBrackets, .comma][choices.number(below: 4)]
        encoder.bool = [.numeric, .literal][choices.number(below: 2)]
        encoder.data = [.base64, .deferredToData][choices.number(below: 2)]
        let format = DateFormat(choices.text(atMost: 8)).map { URLEncodedFormEncoder.DateEncoding.formatted($0) }
        encoder.date =
            [.deferredToDate, .secondsSince1970, .millisecondsSince1970, .iso8601, format ?? .iso8601][
                choices.number(below: 5)]
        encoder.key =
            [.useDefaultKeys, .snakeCase, .kebabCase, .capitalized, .uppercased, .lowercased][choices.number(below: 6)]
        encoder.keyPath = [.brackets, .dots][choices.number(below: 2)]
        encoder.null = [.dropKey, .dropValue, .null][choices.number(below: 3)]
        encoder.space = [.percentEscaped, .plusReplaced][choices.number(below: 2)]
        if choices.number(below: 4) == 3 { encoder.allowedCharacters = AllowedCharacters(choices.text(atMost: 16)) }
        return encoder
    }

    private static func value(_ choices: inout Choices, depth: Int) -> StructuredValue {
        guard depth > 0 else { return .object(members(&choices, depth: 0)) }
        switch choices.number(below: depth < 6 ? 12 : 10) {
        case 0: return .null
        case 1: return .bool(choices.number(below: 2) == 1)
        case 2: return .integer(Int64(bitPattern: choices.word()))
        case 3: return .unsigned(choices.word())
        case 4: return .real(Double(bitPattern: choices.word()))
        case 5: return .decimal(choices.text(atMost: 24))
        case 6: return .number(choices.text(atMost: 24))
        case 7: return .string(choices.text(atMost: 32))
        case 8: return .data(choices.bytes(choices.number(below: 24)))
        case 9: return .date(Double(bitPattern: choices.word()))
        case 10: return .array((0..<choices.number(below: 5)).map { _ in value(&choices, depth: depth + 1) })
        default: return .object(members(&choices, depth: depth))
        }
    }

    private static func members(_ choices: inout Choices, depth: Int) -> [StructuredValue.Member] {
        (0..<choices.number(below: 5)).map { _ in
            let name = choices.text(atMost: 16)
            return StructuredValue.Member(name, value(&choices, depth: depth + 1))
        }
    }

    private static func checkAlphabet(_ text: String, _ encoder: URLEncodedFormEncoder) {
        let bytes = Array(text.utf8)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%") {
                let digits = bytes[(index + 1)...].prefix(2)
                let isEncoding = digits.count == 2 && digits.allSatisfy("0123456789ABCDEF".utf8.contains)
                require(isEncoding || encoder.allowedCharacters.contains(byte), "a percent sign alone in \(text)")
                if isEncoding { index += 2 }
            } else {
                require(
                    encoder.allowedCharacters.contains(byte) || "&=,+".utf8.contains(byte), "byte \(byte) in \(text)")
            }
            index += 1
        }
    }

    /// Where no character of the text means two things, its pairs are the members.
    private static func checkReading(
        _ members: [StructuredValue.Member], _ text: String, _ encoder: URLEncodedFormEncoder
    ) {
        guard encoder.sort == .given, case .useDefaultKeys = encoder.key, encoder.allowedCharacters == .query,
            !members.isEmpty
        else { return }
        var expected: [[String]] = []
        for member in members {
            guard case .string(let content) = member.value else { return }
            expected.append([member.name, content])
        }
        let pairs = text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { decoded($0) }
        }
        // Texts are the same only byte by byte: Swift takes different forms of a letter for one.
        let isSame = pairs.map { $0.map { Array($0.utf8) } } == expected.map { $0.map { Array($0.utf8) } }
        require(isSame, "\(text) is read as \(pairs) instead of \(expected)")
    }

    private static func decoded(_ text: Substring) -> String {
        var output: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(Substring(rest.prefix(2))), radix: 16) {
                output.append(value)
                rest = rest.dropFirst(2)
            } else {
                output.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
