/// Looks at a property list before libplist does, which follows nesting until the stack is full and makes a copy of a value for each place
/// that refers to it: a list of a hundred bytes could take all memory.
enum PropertyListSurvey {
    /// The most values that a list may have, those behind each reference counted: one takes libplist some 200 bytes.
    static let maximumValues = 500_000
    /// The most bytes in texts and data, those behind each reference counted.
    static let maximumPayload = 64 << 20

    /// Tells which form it is.
    static func check(_ bytes: [UInt8]) throws(EncodingFailure) -> PropertyListFormat {
        if bytes.starts(with: "bplist0".utf8) {
            var survey = try BinaryPropertyListSurvey(bytes)
            try survey.check()
            return .binary
        }
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        guard bytes.first(where: { !isBlank($0) }) == UInt8(ascii: "<") else {
            throw .invalidPropertyList("it is neither XML nor binary")
        }
        var survey = XMLPropertyListSurvey(bytes)
        try survey.check()
        return .xml
    }
}

/// Follows the references of a binary property list, each object once.
private struct BinaryPropertyListSurvey {
    /// What an object comes to with everything in it.
    private struct Extent {
        var values = 1
        var payload = 0
        var height = 1
    }

    private enum Progress {
        case unknown
        case underWay
        case known(Extent)
    }

    private static let trailerLength = 32
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let top: Int
    private let table: Int
    private var objects: [Progress]

    init(_ bytes: [UInt8]) throws(EncodingFailure) {
        self.bytes = bytes
        let trailer = bytes.count - BinaryPropertyListSurvey.trailerLength
        guard trailer > 8 else { throw BinaryPropertyListSurvey.malformed }
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        let count = BinaryPropertyListSurvey.number(bytes[(trailer + 8)..<(trailer + 16)])
        top = BinaryPropertyListSurvey.number(bytes[(trailer + 16)..<(trailer + 24)])
        table = BinaryPropertyListSurvey.number(bytes[(trailer + 24)..<(trailer + 32)])
        guard 1...8 ~= offsetSize, 1...8 ~= referenceSize, 9...trailer ~= table, top < count,
            count <= (trailer - table) / offsetSize
        else { throw BinaryPropertyListSurvey.malformed }
        objects = Array(repeating: .unknown, count: count)
    }

    private static let malformed = EncodingFailure.invalidPropertyList("its tables do not fit its length")

    mutating func check() throws(EncodingFailure) { _ = try extent(of: top, depth: 0) }

    private mutating func extent(of object: Int, depth: Int) throws(EncodingFailure) -> Extent {
        guard depth < StructuredValue.maximumDepth else { throw .invalidPropertyList("it is nested too deep") }
        guard objects.indices.contains(object) else { throw BinaryPropertyListSurvey.malformed }
        switch objects[object] {
        case .underWay: throw .invalidPropertyList("it holds itself")
        case .known(let extent):
            guard depth + extent.height <= StructuredValue.maximumDepth else {
                throw .invalidPropertyList("it is nested too deep")
            }
            return extent
        case .unknown: break
        }
        objects[object] = .underWay
        let extent = try measure(object, depth: depth)
        objects[object] = .known(extent)
        return extent
    }

    private mutating func measure(_ object: Int, depth: Int) throws(EncodingFailure) -> Extent {
        let entry = table + object * offsetSize
        var position = BinaryPropertyListSurvey.number(bytes[entry..<(entry + offsetSize)])
        guard position >= 8, position < table else { throw BinaryPropertyListSurvey.malformed }
        let marker = bytes[position]
        position += 1
        let unit: Int
        switch marker >> 4 {
        case 0x4, 0x5: unit = 1
        case 0x6: unit = 2
        case 0xA: unit = referenceSize
        case 0xD: unit = referenceSize * 2
        default: return Extent()
        }
        let count = try self.count(marker, &position)
        guard count <= (table - position) / unit else { throw BinaryPropertyListSurvey.malformed }
        guard unit == referenceSize || unit == referenceSize * 2, marker >= 0xA0 else {
            return Extent(payload: count * unit)
        }
        return try references(from: position, count: count * unit / referenceSize, keys: marker >= 0xD0 ? count : 0, depth: depth)
    }

    private mutating func references(
        from start: Int, count: Int, keys: Int, depth: Int
    ) throws(EncodingFailure) -> Extent {
        var sum = Extent()
        for index in 0..<count {
            let place = start + index * referenceSize
            let object = BinaryPropertyListSurvey.number(bytes[place..<(place + referenceSize)])
            if index < keys, !isText(object) { throw .invalidPropertyList("a key is no text") }
            let part = try extent(of: object, depth: depth + 1)
            sum.values += part.values
            sum.payload += part.payload
            sum.height = max(sum.height, part.height + 1)
            guard sum.values <= PropertyListSurvey.maximumValues, sum.payload <= PropertyListSurvey.maximumPayload else {
                throw .invalidPropertyList("it has more than \(PropertyListSurvey.maximumValues) values or too much text")
            }
        }
        return sum
    }

    private func isText(_ object: Int) -> Bool {
        guard objects.indices.contains(object) else { return false }
        let entry = table + object * offsetSize
        let position = BinaryPropertyListSurvey.number(bytes[entry..<(entry + offsetSize)])
        guard position >= 8, position < table else { return false }
        return bytes[position] >> 4 == 0x5 || bytes[position] >> 4 == 0x6
    }

    /// The count in a marker's lower half; 15 says that a whole number with the count follows.
    private func count(_ marker: UInt8, _ position: inout Int) throws(EncodingFailure) -> Int {
        guard marker & 0xF == 0xF else { return Int(marker & 0xF) }
        guard position < table, bytes[position] >> 4 == 0x1, bytes[position] & 0xF <= 3 else {
            throw BinaryPropertyListSurvey.malformed
        }
        let size = 1 << Int(bytes[position] & 0xF)
        guard position + 1 + size <= table else { throw BinaryPropertyListSurvey.malformed }
        defer { position += 1 + size }
        return BinaryPropertyListSurvey.number(bytes[(position + 1)..<(position + 1 + size)])
    }

    /// An unsigned number, most significant byte first; what does not fit is too large for any use.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int {
        Int(clamping: digits.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}

/// Counts the tags of an XML property list. Where this and libplist could disagree about where a tag ends, the list is refused.
private struct XMLPropertyListSurvey {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    private var tags = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func check() throws(EncodingFailure) {
        while let start = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            let rest = bytes[start...]
            if rest.starts(with: "<!--".utf8) {
                position = try end(of: "-->", from: start + 4)
            } else if rest.starts(with: "<![CDATA[".utf8) {
                position = try end(of: "]]>", from: start + 9)
            } else {
                position = try end(of: ">", from: start + 1)
                try tag(bytes[(start + 1)..<(position - 1)])
            }
        }
    }

    private func end(of mark: StaticString, from start: Int) throws(EncodingFailure) -> Int {
        let mark = UnsafeBufferPointer(start: mark.utf8Start, count: mark.utf8CodeUnitCount)
        var index = min(start, bytes.count)
        while let first = bytes[index...].firstIndex(of: mark[0]) {
            if bytes[first...].starts(with: mark) { return first + mark.count }
            index = first + 1
        }
        throw .invalidPropertyList("it ends inside a tag")
    }

    private mutating func tag(_ tag: ArraySlice<UInt8>) throws(EncodingFailure) {
        let isPlain = !tag.contains { byte in
            byte == UInt8(ascii: "<") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
                || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "!")
        }
        // Before the outermost value stand the declarations and the tag with the version; inside it no tag has an attribute.
        guard isPlain || depth == 0 && !tag.contains(UInt8(ascii: "<")) else {
            throw .invalidPropertyList("it has a tag with an attribute or a declaration inside")
        }
        tags += 1
        guard tags <= PropertyListSurvey.maximumValues * 2 else {
            throw .invalidPropertyList("it has more than \(PropertyListSurvey.maximumValues) values")
        }
        let name = tag.drop { $0 == UInt8(ascii: "/") }.prefix { $0 > 0x20 && $0 != UInt8(ascii: "/") }
        guard name.elementsEqual("array".utf8) || name.elementsEqual("dict".utf8) else { return }
        if tag.first == UInt8(ascii: "/") {
            depth -= 1
        } else if tag.last != UInt8(ascii: "/") {
            depth += 1
        }
        guard depth >= 0, depth <= StructuredValue.maximumDepth else {
            throw .invalidPropertyList("it is nested too deep, or more is closed than opened")
        }
    }
}
