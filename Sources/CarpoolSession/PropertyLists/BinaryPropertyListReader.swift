/// Reads Apple's binary property lists (`bplist00`): objects, a table with the offset of each, and a trailer with the
/// place of the table and the widths of offsets and references.
///
/// A reference is read again each time it occurs, so that the limits hold for the result; an object that contains
/// itself is too deep.
struct BinaryPropertyListReader {
    private static let headerLength = 8
    private static let trailerLength = 32
    /// The most bytes in texts and data, counted for each reference.
    private static let maximumPayload = 64 << 20

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let top: Int
    /// The end of the objects and start of the offset table.
    private let table: Int
    private var valuesLeft = PropertyList.maximumValues
    private var payloadLeft = maximumPayload

    init(_ bytes: [UInt8]) throws(EncodingFailure) {
        self.bytes = bytes
        let trailer = bytes.count &- BinaryPropertyListReader.trailerLength
        guard trailer > BinaryPropertyListReader.headerLength else { throw BinaryPropertyListReader.malformed }
        offsetSize = Int(bytes[trailer &+ 6])
        referenceSize = Int(bytes[trailer &+ 7])
        let numbers = stride(from: trailer &+ 8, to: bytes.count, by: 8).map { start in
            Int(clamping: BinaryPropertyListReader.number(bytes[start..<(start &+ 8)]))
        }
        (count, top, table) = (numbers[0], numbers[1], numbers[2])
        guard 1...8 ~= offsetSize, 1...8 ~= referenceSize, table > BinaryPropertyListReader.headerLength,
            table <= trailer,
            count <= (trailer &- table) / offsetSize
        else { throw BinaryPropertyListReader.malformed }
    }

    private static let malformed = EncodingFailure.invalidPropertyList("its tables do not fit its length")

    mutating func read() throws(EncodingFailure) -> StructuredValue {
        try charge(1)
        return try value(of: top, depth: 0)
    }

    /// Counts values that are about to be read, before anything is allocated for them.
    private mutating func charge(_ values: Int) throws(EncodingFailure) {
        guard values <= valuesLeft else {
            throw .invalidPropertyList("it has more than \(PropertyList.maximumValues) values")
        }
        valuesLeft &-= values
    }

    /// Reads one value, which was charged already.
    private mutating func value(of object: Int, depth: Int) throws(EncodingFailure) -> StructuredValue {
        guard depth < StructuredValue.maximumDepth else { throw .invalidPropertyList("it is nested too deep") }
        var position = try place(of: object)
        let marker = bytes[position]
        position &+= 1
        switch marker >> 4 {
        case 0x0: return try simple(marker)
        case 0x1: return try integer(try take(1 << Int(marker & 0xF), &position))
        case 0x2: return .real(try real(try take(1 << Int(marker & 0xF), &position)))
        case 0x3: return .date(DateValue.since1970(referenceSeconds: try real(try take(8, &position))))
        case 0x4: return .data(Array(try payload(marker, 1, &position)))
        case 0x5, 0x6: return .string(try text(marker, &position))
        case 0x8: return .object([.init("CF$UID", try integer(try take(Int(marker & 0xF) &+ 1, &position)))])
        case 0xA: return .array(try elements(marker, position, depth: depth))
        case 0xD: return .object(try members(marker, position, depth: depth))
        default: throw .invalidPropertyList("it has a value of an unknown type")
        }
    }

    private func place(of object: Int) throws(EncodingFailure) -> Int {
        guard object < count else { throw BinaryPropertyListReader.malformed }
        let entry = table &+ object &* offsetSize
        let place = Int(clamping: BinaryPropertyListReader.number(bytes[entry..<(entry &+ offsetSize)]))
        guard place >= BinaryPropertyListReader.headerLength, place < table else {
            throw BinaryPropertyListReader.malformed
        }
        return place
    }

    private func take(_ length: Int, _ position: inout Int) throws(EncodingFailure) -> ArraySlice<UInt8> {
        guard length <= table &- position else { throw BinaryPropertyListReader.malformed }
        defer { position &+= length }
        return bytes[position..<(position &+ length)]
    }

    private func simple(_ marker: UInt8) throws(EncodingFailure) -> StructuredValue {
        switch marker {
        case 0x00: return .null
        case 0x08: return .bool(false)
        case 0x09: return .bool(true)
        default: throw .invalidPropertyList("it has a value of an unknown type")
        }
    }

    /// Up to four bytes are unsigned, eight are signed; sixteen are written for values that need the 64th bit.
    private func integer(_ digits: ArraySlice<UInt8>) throws(EncodingFailure) -> StructuredValue {
        let number = BinaryPropertyListReader.number(digits.suffix(8))
        if digits.count == 16 {
            guard digits.prefix(8).allSatisfy({ $0 == 0 }) else {
                throw .invalidPropertyList("it has a number beyond 64 bits")
            }
        } else if digits.count == 8 {
            return .integer(Int64(bitPattern: number))
        }
        return Int64(exactly: number).map { .integer($0) } ?? .unsigned(number)
    }

    private func real(_ digits: ArraySlice<UInt8>) throws(EncodingFailure) -> Double {
        let bits = BinaryPropertyListReader.number(digits)
        switch digits.count {
        case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case 8: return Double(bitPattern: bits)
        default: throw .invalidPropertyList("it has a real of \(digits.count) bytes")
        }
    }

    /// The content of an object with a count: the count times the unit size in bytes.
    private mutating func payload(
        _ marker: UInt8, _ unit: Int, _ position: inout Int
    ) throws(EncodingFailure) -> ArraySlice<UInt8> {
        let content = try content(marker, unit, &position)
        payloadLeft &-= content.count
        guard payloadLeft >= 0 else {
            throw .invalidPropertyList(
                "it has more than \(BinaryPropertyListReader.maximumPayload) bytes of text and data")
        }
        return content
    }

    /// The count is in the marker's lower half; 15 there means that an integer with the count follows.
    private func content(
        _ marker: UInt8, _ unit: Int, _ position: inout Int
    ) throws(EncodingFailure) -> ArraySlice<UInt8> {
        var count = Int(marker & 0xF)
        if count == 0xF {
            guard let kind = try take(1, &position).first, kind >> 4 == 0x1, kind & 0xF <= 3 else {
                throw BinaryPropertyListReader.malformed
            }
            count = Int(clamping: BinaryPropertyListReader.number(try take(1 << Int(kind & 0xF), &position)))
        }
        guard count <= (table &- position) / unit else { throw BinaryPropertyListReader.malformed }
        return try take(count &* unit, &position)
    }

    /// ASCII, or UTF-16 with the most significant byte first; invalid text becomes U+FFFD.
    private mutating func text(_ marker: UInt8, _ position: inout Int) throws(EncodingFailure) -> String {
        guard marker >> 4 == 0x6 else { return String(decoding: try payload(marker, 1, &position), as: UTF8.self) }
        let content = try payload(marker, 2, &position)
        let units = stride(from: content.startIndex, to: content.endIndex, by: 2).map { index in
            UInt16(content[index]) << 8 | UInt16(content[index &+ 1])
        }
        return String(decoding: units, as: UTF16.self)
    }

    /// The references of a container. They are charged first: each level of a list that contains itself would take
    /// memory for all of them.
    private mutating func references(
        _ marker: UInt8, _ position: Int, _ width: Int
    ) throws(EncodingFailure) -> [Int] {
        var position = position
        let content = try content(marker, referenceSize &* width, &position)
        try charge(content.count / referenceSize)
        return stride(from: content.startIndex, to: content.endIndex, by: referenceSize).map { start in
            Int(clamping: BinaryPropertyListReader.number(content[start..<(start &+ referenceSize)]))
        }
    }

    private mutating func elements(
        _ marker: UInt8, _ position: Int, depth: Int
    ) throws(EncodingFailure) -> [StructuredValue] {
        var elements: [StructuredValue] = []
        for object in try references(marker, position, 1) { elements.append(try value(of: object, depth: depth + 1)) }
        return elements
    }

    /// The references of all keys come first, then those of all values.
    private mutating func members(
        _ marker: UInt8, _ position: Int, depth: Int
    ) throws(EncodingFailure) -> [StructuredValue.Member] {
        let objects = try references(marker, position, 2)
        let half = objects.count / 2
        var members: [StructuredValue.Member] = []
        var names: Set<String> = []
        for index in 0..<half {
            guard case .string(let name) = try value(of: objects[index], depth: depth + 1) else {
                throw .invalidPropertyList("a key is not a string")
            }
            guard names.insert(name).inserted else { throw .invalidPropertyList("a dictionary has a duplicate key") }
            members.append(.init(name, try value(of: objects[half &+ index], depth: depth + 1)))
        }
        return members
    }

    /// An unsigned number of at most eight bytes, most significant byte first.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64 { digits.reduce(0) { $0 << 8 | UInt64($1) } }
}
