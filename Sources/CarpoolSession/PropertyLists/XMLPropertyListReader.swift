internal import CarpoolJSON

/// Reads XML property lists in UTF-8: the elements of Apple's document type, comments, CDATA, the five named entities
/// and those by number. Declarations are skipped, so that none can define an entity.
struct XMLPropertyListReader {
    private struct Tag {
        var name: String
        var isClosing = false
        /// `<name/>`
        var isEmpty = false
    }

    private let bytes: [UInt8]
    private var position: Int
    private var valuesLeft = PropertyList.maximumValues

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    mutating func read() throws(EncodingFailure) -> StructuredValue {
        var tag = try nextTag()
        let hasRoot = tag.name == "plist" && !tag.isClosing && !tag.isEmpty
        if hasRoot { tag = try nextTag() }
        let value = try value(of: tag, depth: 0)
        if hasRoot { try close("plist") }
        try skipBetweenTags()
        guard position == bytes.count else { throw .invalidPropertyList("it has content after its end") }
        return value
    }

    private mutating func value(of tag: Tag, depth: Int) throws(EncodingFailure) -> StructuredValue {
        guard depth < StructuredValue.maximumDepth else { throw .invalidPropertyList("it is nested too deep") }
        valuesLeft &-= 1
        guard valuesLeft >= 0 else {
            throw .invalidPropertyList("it has more than \(PropertyList.maximumValues) values")
        }
        guard !tag.isClosing else { throw .invalidPropertyList("a value is missing") }
        switch tag.name {
        case "array": return .array(try elements(of: tag, depth: depth))
        case "dict": return .object(try members(of: tag, depth: depth))
        case "string": return .string(try text(of: tag))
        case "true", "false":
            if !tag.isEmpty { try close(tag.name) }
            return .bool(tag.name == "true")
        case "integer", "real", "date", "data": return try scalar(tag.name, try text(of: tag))
        default: throw .invalidPropertyList("it has an unknown element")
        }
    }

    private func scalar(_ kind: String, _ text: String) throws(EncodingFailure) -> StructuredValue {
        let content = String(text.split(whereSeparator: \.isWhitespace).joined())
        switch kind {
        case "integer":
            if let integer = Int64(content) { return .integer(integer) }
            if let integer = UInt64(content) { return .unsigned(integer) }
        case "real":
            if let real = Double(content) { return .real(real) }
        case "date":
            if let seconds = CivilTime.seconds(content) { return .date(seconds) }
        default:
            if let data = try? Array(content.utf8).withUnsafeBytes({ try Base64.decode($0) }) { return .data(data) }
        }
        throw .invalidPropertyList("its \(kind) is not valid")
    }

    private mutating func elements(of tag: Tag, depth: Int) throws(EncodingFailure) -> [StructuredValue] {
        var elements: [StructuredValue] = []
        guard !tag.isEmpty else { return elements }
        while true {
            let next = try nextTag()
            if next.isClosing, next.name == tag.name { return elements }
            elements.append(try value(of: next, depth: depth + 1))
        }
    }

    private mutating func members(of tag: Tag, depth: Int) throws(EncodingFailure) -> [StructuredValue.Member] {
        var members: [StructuredValue.Member] = []
        var names: Set<String> = []
        guard !tag.isEmpty else { return members }
        while true {
            let next = try nextTag()
            if next.isClosing, next.name == tag.name { return members }
            guard next.name == "key", !next.isClosing else { throw .invalidPropertyList("a key is missing") }
            let name = try text(of: next)
            guard names.insert(name).inserted else { throw .invalidPropertyList("a dictionary has a duplicate key") }
            members.append(.init(name, try value(of: try nextTag(), depth: depth + 1)))
        }
    }

    // MARK: Tags

    private mutating func nextTag() throws(EncodingFailure) -> Tag {
        try skipBetweenTags()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "<") else {
            throw .invalidPropertyList("it is neither XML nor binary, or ends too early")
        }
        position &+= 1
        return try tag()
    }

    /// Reads a tag after its `<`; attributes are skipped.
    private mutating func tag() throws(EncodingFailure) -> Tag {
        let content = try skip(past: ">", quoted: true)
        let isClosing = content.first == UInt8(ascii: "/")
        let isEmpty = content.last == UInt8(ascii: "/")
        let name = content.drop { $0 == UInt8(ascii: "/") }.prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") }
        return Tag(name: String(decoding: name.prefix(16), as: UTF8.self), isClosing: isClosing, isEmpty: isEmpty)
    }

    private mutating func close(_ name: String) throws(EncodingFailure) {
        let tag = try nextTag()
        guard tag.isClosing, tag.name == name else { throw .invalidPropertyList("\(name) is not closed") }
    }

    /// White space, comments, processing instructions and the document type.
    private mutating func skipBetweenTags() throws(EncodingFailure) {
        while position < bytes.count {
            let rest = bytes[position...]
            if XMLPropertyListReader.isSpace(bytes[position]) {
                position &+= 1
            } else if rest.starts(with: "<!--".utf8) {
                position &+= 4
                _ = try skip(past: "-->")
            } else if rest.starts(with: "<?".utf8) {
                _ = try skip(past: "?>")
            } else if rest.starts(with: "<!DOCTYPE".utf8) {
                try skipDocumentType()
            } else {
                return
            }
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private mutating func skipDocumentType() throws(EncodingFailure) {
        let content = try skip(past: ">", quoted: true)
        guard !content.contains(UInt8(ascii: "[")) else {
            throw .invalidPropertyList("its document type declaration has an internal subset")
        }
    }

    /// Moves behind the next mark, which counts only outside quotation marks if `quoted`; returns what lies before it.
    private mutating func skip(past mark: StaticString, quoted: Bool = false) throws(EncodingFailure) -> ArraySlice<
        UInt8
    > {
        let mark = UnsafeBufferPointer(start: mark.utf8Start, count: mark.utf8CodeUnitCount)
        let start = position
        var quote: UInt8?
        while position < bytes.count {
            let byte = bytes[position]
            if let open = quote {
                if byte == open { quote = nil }
            } else if quoted, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == mark[0], bytes[position...].starts(with: mark) {
                defer { position &+= mark.count }
                return bytes[start..<position]
            }
            position &+= 1
        }
        throw .invalidPropertyList("it ends inside a tag or a comment")
    }

    // MARK: Text

    /// The text up to the end of the element.
    private mutating func text(of tag: Tag) throws(EncodingFailure) -> String {
        var output: [UInt8] = []
        guard !tag.isEmpty else { return "" }
        while true {
            try appendText(try skip(past: "<"), to: &output)
            let rest = bytes[position...]
            if rest.starts(with: "!--".utf8) {
                position &+= 3
                _ = try skip(past: "-->")
            } else if rest.starts(with: "![CDATA[".utf8) {
                position &+= 8
                output.append(contentsOf: try skip(past: "]]>"))
            } else {
                let end = try self.tag()
                guard end.isClosing, end.name == tag.name else {
                    throw .invalidPropertyList("\(tag.name) is not closed")
                }
                break
            }
        }
        guard let text = String(validating: output, as: UTF8.self) else {
            throw .invalidPropertyList("it is not UTF-8")
        }
        return text
    }

    private func appendText(_ text: ArraySlice<UInt8>, to output: inout [UInt8]) throws(EncodingFailure) {
        var rest = text
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            output.append(contentsOf: rest[..<start])
            // The longest, &#x0010FFFF; and the like, is short.
            let name = rest[(start &+ 1)...].prefix(12).prefix { $0 != UInt8(ascii: ";") }
            guard name.endIndex < rest.endIndex, rest[name.endIndex] == UInt8(ascii: ";"),
                let scalar = XMLPropertyListReader.scalar(String(decoding: name, as: UTF8.self))
            else { throw .invalidPropertyList("it has an unknown entity") }
            output.append(contentsOf: String(scalar).utf8)
            rest = rest[(name.endIndex &+ 1)...]
        }
        output.append(contentsOf: rest)
    }

    private static func scalar(_ entity: String) -> Unicode.Scalar? {
        switch entity {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard entity.hasPrefix("#") else { return nil }
            let isHexadecimal = entity.hasPrefix("#x")
            return UInt32(entity.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10).flatMap(
                Unicode.Scalar.init)
        }
    }
}
