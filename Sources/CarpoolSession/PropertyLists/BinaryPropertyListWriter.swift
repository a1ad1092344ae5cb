/// Writes Apple's binary property lists (`bplist00`): objects, a table with the offset of each, and a trailer with the
/// place of the table and the widths of offsets and references. Equal texts, numbers and data are one object.
struct BinaryPropertyListWriter {
    /// An array or a dictionary. They are written last, because the width of a reference depends on their count.
    private struct Container {
        let number: Int
        let marker: UInt8
        let count: Int
        /// The elements, or the keys and then the values.
        let references: [Int]
    }

    private var bytes = Array("bplist00".utf8)
    /// The place of each object.
    private var offsets: [Int] = []
    private var containers: [Container] = []
    /// The numbers of the other objects by what is written of them.
    private var leaves: [[UInt8]: Int] = [:]

    /// Writes a value that ``PropertyListRules`` accept.
    static func bytes(of value: StructuredValue) -> [UInt8] {
        var writer = BinaryPropertyListWriter()
        let top = writer.add(value)
        return writer.finish(top: top)
    }

    /// Adds a value with all that it contains; returns its number.
    private mutating func add(_ value: StructuredValue) -> Int {
        switch value {
        case .array(let elements):
            return add(0xA0, count: elements.count) { writer in elements.map { writer.add($0) } }
        case .object(let members):
            return add(0xD0, count: members.count) { writer in
                members.map { writer.add(.string($0.name)) } + members.map { writer.add($0.value) }
            }
        default:
            let start = bytes.count
            write(value)
            let written = Array(bytes[start...])
            if let known = leaves[written] {
                bytes.removeSubrange(start...)
                return known
            }
            leaves[written] = offsets.count
            offsets.append(start)
            return offsets.count - 1
        }
    }

    private mutating func add(_ marker: UInt8, count: Int, references: (inout Self) -> [Int]) -> Int {
        let number = offsets.count
        offsets.append(0)
        containers.append(Container(number: number, marker: marker, count: count, references: references(&self)))
        return number
    }

    private mutating func finish(top: Int) -> [UInt8] {
        let referenceSize = BinaryPropertyListWriter.width(of: offsets.count)
        for container in containers {
            offsets[container.number] = bytes.count
            begin(container.marker, count: container.count)
            for reference in container.references { append(reference, width: referenceSize) }
        }
        let table = bytes.count
        let offsetSize = BinaryPropertyListWriter.width(of: table)
        for offset in offsets { append(offset, width: offsetSize) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        for number in [offsets.count, top, table] { append(number, width: 8) }
        return bytes
    }

    private mutating func write(_ value: StructuredValue) {
        switch value {
        case .bool(let bool): bytes.append(bool ? 0x09 : 0x08)
        case .integer(let integer): write(integer)
        case .unsigned(let integer):
            if let small = Int64(exactly: integer) { return write(small) }
            // In sixteen bytes, because a number of eight is signed.
            bytes.append(0x14)
            append(0, width: 8)
            append(integer, width: 8)
        case .real(let real): write(real, marker: 0x23)
        case .number(let text), .decimal(let text): write(Double(text) ?? 0, marker: 0x23)
        case .date(let seconds): write(DateValue.sinceReferenceDate(seconds), marker: 0x33)
        case .data(let data):
            begin(0x40, count: data.count)
            bytes += data
        case .string(let text): write(text)
        case .array, .object, .null: break
        }
    }

    /// Numbers of fewer than eight bytes are unsigned.
    private mutating func write(_ integer: Int64) {
        let width = integer < 0 ? 8 : BinaryPropertyListWriter.width(of: Int(integer))
        bytes.append(0x10 | UInt8(width.trailingZeroBitCount))
        append(UInt64(bitPattern: integer), width: width)
    }

    private mutating func write(_ real: Double, marker: UInt8) {
        bytes.append(marker)
        append(real.bitPattern, width: 8)
    }

    /// ASCII, or UTF-16 with the most significant byte first.
    private mutating func write(_ text: String) {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            begin(0x60, count: text.utf16.count)
            for unit in text.utf16 { append(UInt64(unit), width: 2) }
            return
        }
        begin(0x50, count: text.utf8.count)
        bytes += text.utf8
    }

    /// The count is in the marker's lower half; 15 there means that an integer with the count follows.
    private mutating func begin(_ marker: UInt8, count: Int) {
        bytes.append(marker | UInt8(min(count, 15)))
        if count >= 15 { write(Int64(count)) }
    }

    /// The bytes that a number needs: 1, 2, 4 or 8.
    private static func width(of number: Int) -> Int {
        number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }

    private mutating func append(_ number: Int, width: Int) { append(UInt64(number), width: width) }

    /// Most significant byte first.
    private mutating func append(_ number: UInt64, width: Int) {
        for place in (0..<width).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(place)))) }
    }
}
