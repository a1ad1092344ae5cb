/// What a format of property lists can express.
struct PropertyListRules {
    let format: PropertyListFormat

    /// Checks a value with all that it contains.
    func check(_ value: StructuredValue, depth: Int = 0) throws(EncodingFailure) {
        guard depth < StructuredValue.maximumDepth else { throw .invalidPropertyList("it is nested too deep") }
        switch value {
        case .array(let elements): for element in elements { try check(element, depth: depth + 1) }
        case .object(let members):
            var names: Set<[UInt8]> = []
            for member in members {
                try check(member.name)
                guard names.insert(Array(member.name.utf8)).inserted else {
                    throw .invalidPropertyList("a dictionary has a duplicate key")
                }
                try check(member.value, depth: depth + 1)
            }
        case .string(let text): try check(text)
        case .real(let real):
            guard real.isFinite else { throw .invalidPropertyList("a property list has no \(real)") }
        case .date(let seconds):
            let isPossible =
                format == .xml ? DateFormat.internet.text(forSecondsSince1970: seconds) != nil : seconds.isFinite
            guard isPossible else { throw .invalidDate(seconds) }
        case .number(let text):
            guard let real = Double(text), real.isFinite else { throw unknown(text) }
        case .decimal(let text): throw unknown(text)
        case .null: throw .invalidPropertyList("a property list has no null", hint: "leave the member out")
        case .bool, .integer, .unsigned, .data: break
        }
    }

    private func unknown(_ number: String) -> EncodingFailure {
        .invalidPropertyList("a property list has no number like \(number.prefix(40))", hint: "send it as a string")
    }

    /// XML has no way to write most control characters. Many readers take U+0000 for the end of a text.
    private func check(_ text: String) throws(EncodingFailure) {
        let isPossible = text.utf8.allSatisfy { byte in
            byte >= 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D || (format == .binary && byte != 0)
        }
        guard isPossible else {
            throw .invalidPropertyList("a text has control characters that the format cannot write")
        }
    }
}
