internal import CarpoolSystem
internal import Glibc

/// The head of a response: status, version and the fields as received.
public struct ResponseHead: Sendable {
    /// The status code, 200 to 999.
    public let status: Int
    /// `http/1.0`, `http/1.1` or `h2`.
    public let httpVersion: String
    /// The fields as received: in order, with duplicates and case.
    public let fields: FieldBlock
    /// Whether the fields were dropped.
    public let isTruncated: Bool
    /// Whether it comes from a store: then its fields were carried out before, such as `Set-Cookie`.
    public let isStored: Bool

    /// Makes a head from its parts.
    public init(status: Int, httpVersion: String, fields: FieldBlock, isStored: Bool = false) {
        self.status = status
        self.httpVersion = httpVersion
        self.fields = fields
        self.isStored = isStored
        isTruncated = false
    }

    private init(_ head: ResponseHead, with fields: FieldBlock, isTruncated: Bool) {
        (status, httpVersion, isStored) = (head.status, head.httpVersion, head.isStored)
        (self.fields, self.isTruncated) = (fields, isTruncated)
    }

    /// The same head without its fields, for one that is kept without need for them.
    public var withoutFields: ResponseHead { ResponseHead(self, with: FieldBlock(), isTruncated: true) }

    /// The same head with only the fields of these names, as many as have at most so many bytes; it is truncated if it
    /// had more of them.
    public func keeping(_ names: [StaticString], atMost limit: Int) -> ResponseHead {
        let (kept, isWhole) = fields.keeping(names, atMost: limit)
        return ResponseHead(self, with: kept, isTruncated: isTruncated || !isWhole)
    }
}

/// The fields of a head, stored as one block of bytes: most are only copied to the client, so a `String` is made only
/// on demand.
public struct FieldBlock: Sendable {
    /// The position of a field. Offsets of 32 bits, because a head of short lines has very many: the transport
    /// accepts 300,000 bytes of it.
    private struct Entry: Sendable {
        var nameStart: UInt32
        var nameEnd: UInt32
        var valueStart: UInt32
        var valueEnd: UInt32

        var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
        var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
    }

    private var bytes: [UInt8] = []
    private var entries: [Entry] = []

    /// Makes an empty block.
    public init() {}

    /// Makes an empty block with room for a head of common size, so that it does not grow line by line.
    init(expectedBytes: Int) {
        bytes.reserveCapacity(expectedBytes)
        entries.reserveCapacity(16)
    }

    /// The number of fields.
    public var count: Int { entries.count }

    /// The total number of bytes of the lines.
    public var byteCount: Int { bytes.count }

    /// The number of bytes of memory that they take.
    public var memoryBytes: Int { bytes.capacity &+ entries.capacity &* MemoryLayout<Entry>.stride }

    /// Adds one line, `Name: value`, without its line end. Returns false, and adds nothing, if it has no colon or no
    /// name.
    public mutating func append(line: UnsafeRawBufferPointer) -> Bool {
        guard let start = line.baseAddress, let found = memchr(start, 0x3A, line.count) else { return false }
        let colon = UnsafeRawPointer(found) - start
        guard colon > 0 else { return false }
        var first = colon + 1
        var end = line.count
        while first < end, FieldBlock.isBlank(line[first]) { first += 1 }
        while end > first, FieldBlock.isBlank(line[end - 1]) { end -= 1 }
        let base = bytes.count
        bytes.append(contentsOf: line)
        entries.append(
            Entry(
                nameStart: UInt32(truncatingIfNeeded: base), nameEnd: UInt32(truncatingIfNeeded: base &+ colon),
                valueStart: UInt32(truncatingIfNeeded: base &+ first), valueEnd: UInt32(truncatingIfNeeded: base &+ end)
            ))
        return true
    }

    /// Joins a folded line to the value before it with one blank (RFC 9112, section 5.2), or with none where one of
    /// the two is empty.
    mutating func continueLast(with line: UnsafeRawBufferPointer) {
        guard let last = entries.last else { return }
        var start = 0
        var end = line.count
        while start < end, FieldBlock.isBlank(line[start]) { start += 1 }
        while end > start, FieldBlock.isBlank(line[end - 1]) { end -= 1 }
        guard start < end else { return }
        bytes.removeLast(bytes.count - last.value.upperBound)
        if !last.value.isEmpty { bytes.append(0x20) }
        bytes.append(contentsOf: line[start..<end])
        entries[entries.count - 1].valueEnd = UInt32(truncatingIfNeeded: bytes.count)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }

    /// Calls the body with name and value of each field, in order. The bytes are valid during the call only.
    public func forEach(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        bytes.withUnsafeBytes { all in
            for entry in entries {
                body(
                    UnsafeRawBufferPointer(rebasing: all[entry.name]),
                    UnsafeRawBufferPointer(rebasing: all[entry.value]))
            }
        }
    }

    /// The fields of these names, as many as have at most so many bytes, and whether that is all of them.
    func keeping(_ names: [StaticString], atMost limit: Int) -> (FieldBlock, isWhole: Bool) {
        var (kept, isWhole) = (FieldBlock(), true)
        bytes.withUnsafeBytes { all in
            for entry in entries {
                let name = UnsafeRawBufferPointer(rebasing: all[entry.name])
                guard names.contains(where: { FieldName.matches(name, $0) }) else { continue }
                let line = UnsafeRawBufferPointer(rebasing: all[entry.name.lowerBound..<entry.value.upperBound])
                if kept.byteCount &+ line.count > limit || !kept.append(line: line) { isWhole = false }
            }
        }
        return (kept, isWhole)
    }

    /// Why the fields `Content-Length` are no length.
    enum LengthFault {
        /// They have different values.
        case conflict
        /// One is not a number, or one of more than 63 bits.
        case notANumber
    }

    /// Why the fields `Content-Length` are no length; `nil` if they are, or there is none. A list of the same number is
    /// that number (RFC 9110, section 8.6).
    var lengthFault: LengthFault? {
        bytes.withUnsafeBytes { all in
            var known: Int64?
            for entry in entries
            where FieldName.matches(UnsafeRawBufferPointer(rebasing: all[entry.name]), "content-length") {
                var rest = all[entry.value]
                repeat {
                    guard let length = FieldBlock.length(&rest) else { return .notANumber }
                    if let known, known != length { return .conflict }
                    known = length
                } while !rest.isEmpty
            }
            return nil
        }
    }

    /// Takes the first number of a list, and the comma behind it; `nil` if there is none.
    private static func length(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Int64? {
        var length: Int64?
        rest = rest.drop(while: isBlank)
        while let byte = rest.first, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
            let (tens, isTooLong) = (length ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, isTooLarge) = tens.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            guard !isTooLong, !isTooLarge else { return nil }
            length = sum
            rest.removeFirst()
        }
        rest = rest.drop(while: isBlank)
        guard let comma = rest.first else { return length }
        rest.removeFirst()
        return comma == UInt8(ascii: ",") && !rest.isEmpty ? length : nil
    }

    /// Calls the body with the value of each field of that name, in order, until it returns false. The bytes are valid
    /// during the call only.
    public func forEach(_ name: StaticString, _ body: (UnsafeRawBufferPointer) -> Bool) {
        bytes.withUnsafeBytes { all in
            for entry in entries where FieldName.matches(UnsafeRawBufferPointer(rebasing: all[entry.name]), name) {
                guard body(UnsafeRawBufferPointer(rebasing: all[entry.value])) else { return }
            }
        }
    }

    /// Whether there is a field of that name.
    public func has(_ name: StaticString) -> Bool {
        var isFound = false
        forEach(name) { _ in
            isFound = true
            return false
        }
        return isFound
    }

    /// The values of all fields of that name, in order; as ISO-8859-1 if they are not UTF-8.
    public func all(_ name: StaticString) -> [String] {
        var values: [String] = []
        forEach(name) { value in
            values.append(FieldText.text(of: value))
            return true
        }
        return values
    }

    /// The bytes of the values of all fields of that name, in order.
    public func allBytes(_ name: StaticString) -> [[UInt8]] {
        var values: [[UInt8]] = []
        forEach(name) { value in
            values.append(Array(value))
            return true
        }
        return values
    }

    /// The value of the first field of that name as a reference to a URL: bytes that are not UTF-8 are
    /// percent-encoded, one by one.
    public func firstReference(_ name: StaticString) -> String? {
        withFirst(name) { String(validating: $0, as: UTF8.self) ?? URLEncoder.encodeBeyondASCII($0) }
    }

    /// The value of the first field of that name, whatever its case; as ISO-8859-1 if it is not UTF-8.
    public func first(_ name: StaticString) -> String? { withFirst(name) { FieldText.text(of: $0) } }

    /// Whether the first field of that name has this value, whatever the case of both.
    public func first(_ name: StaticString, is value: StaticString) -> Bool {
        var isEqual = false
        forEach(name) {
            isEqual = FieldName.matches($0, value)
            return false
        }
        return isEqual
    }

    /// The value that all fields of that name have; `nil` if there is none, or they contradict each other.
    public func agreed(_ name: StaticString) -> String? {
        agreedBytes(name)?.withUnsafeBytes { FieldText.text(of: $0) }
    }

    /// The value that all fields of that name have, as bytes; `nil` if there is none, or they contradict each other.
    public func agreedBytes(_ name: StaticString) -> [UInt8]? {
        var known: [UInt8]?
        var isAgreed = true
        forEach(name) { value in
            isAgreed = known?.elementsEqual(value) ?? true
            known = known ?? Array(value)
            return isAgreed
        }
        return isAgreed ? known : nil
    }

    private func withFirst(_ name: StaticString, _ body: (UnsafeRawBufferPointer) -> String) -> String? {
        var result: String?
        forEach(name) { value in
            result = body(value)
            return false
        }
        return result
    }
}
