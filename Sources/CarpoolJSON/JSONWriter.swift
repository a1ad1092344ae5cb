/// Appends compact JSON to a buffer of its own: one line, UTF-8, shortest round-trip reals.
///
/// Every reply of the daemon is written by it, so it makes no intermediate strings and asks its buffer for room once a
/// value. The writer adds commas; the caller alternates keys and values, and closes what it opens.
public struct JSONWriter: ~Copyable {
    private var buffer = TextBuffer()
    private var needsComma = false

    /// A writer that has written nothing.
    public init() {}

    /// A copy of the text.
    public var bytes: [UInt8] { buffer.withBytes { Array($0) } }

    /// The number of bytes written so far.
    public var count: Int { buffer.count }

    /// The size of the allocated buffer, in bytes.
    public var capacity: Int { buffer.capacity }

    /// The text, without a copy; the bytes are valid during the call.
    public borrowing func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try buffer.withBytes(body)
    }

    /// Removes the text, and keeps the memory.
    public mutating func removeAll() {
        buffer.count = 0
        needsComma = false
    }

    /// Removes the text after so many bytes: the value that began there may be written again, or left out.
    public mutating func rewind(to count: Int) {
        buffer.count = min(buffer.count, max(0, count))
        needsComma = buffer.withBytes { $0.last.map(JSONWriter.endsValue) ?? false }
    }

    /// Whether a byte is the last of a value: of a string, a container, a number or a name of JSON.
    private static func endsValue(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "]"), UInt8(ascii: "}"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: false
        }
    }

    /// Reserves memory for this many more bytes.
    public mutating func reserve(_ count: Int) { buffer.reserve(count) }

    /// Appends bytes as they are, with no comma before them: the middle of a text that was begun elsewhere, or what
    /// follows it.
    public mutating func append(verbatim bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer.append($0) }
    }

    /// Opens an object.
    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// Closes an object.
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Opens an array.
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    /// Closes an array.
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Writes no comma before the next value, which begins another JSON text in the same buffer.
    public mutating func beginText() { needsComma = false }

    private mutating func open(_ bracket: UInt8) {
        separate()
        buffer.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        buffer.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// A member's name known at compile time; must need no escape.
    public mutating func key(_ name: StaticString) {
        let count = name.utf8CodeUnitCount
        buffer.reserve(count &+ 4)
        if needsComma { buffer.appendReserved(UInt8(ascii: ",")) }
        needsComma = false
        buffer.appendReserved(UInt8(ascii: "\""))
        buffer.appendReserved(name)
        buffer.appendReserved(UInt8(ascii: "\""))
        buffer.appendReserved(UInt8(ascii: ":"))
    }

    /// A member's name.
    @_disfavoredOverload
    public mutating func key(_ name: String) {
        var name = name
        name.withUTF8 { key(validUTF8: UnsafeRawBufferPointer($0)) }
    }

    /// A member's name from bytes that are known to be UTF-8.
    mutating func key(validUTF8 name: UnsafeRawBufferPointer) {
        validString(name)
        buffer.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// A string.
    public mutating func string(_ value: String) {
        var value = value
        value.withUTF8 { validString(UnsafeRawBufferPointer($0)) }
    }

    /// A string known at compile time; must need no escape.
    public mutating func string(static value: StaticString) {
        separate()
        buffer.reserve(value.utf8CodeUnitCount &+ 2)
        buffer.appendReserved(UInt8(ascii: "\""))
        buffer.appendReserved(value)
        buffer.appendReserved(UInt8(ascii: "\""))
    }

    /// A string of ASCII that needs no escape, written in place by the caller.
    /// - Parameters:
    ///   - capacity: the most bytes that it may have.
    ///   - body: writes them and returns their number.
    public mutating func string(capacity: Int, _ body: (UnsafeMutableBufferPointer<UInt8>) -> Int) {
        separate()
        buffer.reserve(capacity &+ 2)
        buffer.appendReserved(UInt8(ascii: "\""))
        buffer.appendReserved(capacity: capacity, body)
        buffer.appendReserved(UInt8(ascii: "\""))
    }

    /// A string from bytes; invalid UTF-8 becomes U+FFFD.
    public mutating func string(utf8: UnsafeRawBufferPointer) {
        if Self.isUTF8(utf8) { validString(utf8) } else { string(String(decoding: utf8, as: UTF8.self)) }
    }

    /// Received bytes: a string if they are UTF-8, otherwise `{"base64": "..."}`.
    public mutating func text(_ value: UnsafeRawBufferPointer) {
        if JSONEscape.isPlain(value) { return plainString(value) }
        if Self.isUTF8(value) { return validString(value) }
        beginObject()
        key("base64")
        base64(value)
        endObject()
    }

    /// A string of base64 (RFC 4648 §4).
    public mutating func base64(_ value: UnsafeRawBufferPointer) {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(Base64.encodedLength(of: value.count))
        Base64.encode(value, into: &encoded)
        separate()
        buffer.append(UInt8(ascii: "\""))
        encoded.withUnsafeBytes { buffer.append($0) }
        buffer.append(UInt8(ascii: "\""))
    }

    /// An integer.
    public mutating func integer(_ value: Int64) {
        separate()
        if value < 0 { buffer.append(UInt8(ascii: "-")) }
        digits(value.magnitude)
    }

    /// An integer.
    @inlinable
    public mutating func integer(_ value: some BinaryInteger) {
        if let small = Int64(exactly: value) { integer(small) } else { integer(unsigned: UInt64(clamping: value)) }
    }

    /// An integer that may need the 64th bit.
    public mutating func integer(unsigned value: UInt64) {
        separate()
        digits(value)
    }

    /// A real in the shortest form that reads back the same; null for infinities and NaN, which JSON cannot represent.
    public mutating func real(_ value: Double) {
        guard value.isFinite else { return null() }
        separate()
        var text = value.description
        text.withUTF8 { buffer.append(UnsafeRawBufferPointer($0)) }
    }

    /// `true` or `false`.
    public mutating func bool(_ value: Bool) {
        separate()
        buffer.append(value ? "true" : "false")
    }

    /// `null`
    public mutating func null() {
        separate()
        buffer.append("null")
    }

    /// A value that is JSON already, on one line.
    public mutating func raw(_ json: [UInt8]) {
        separate()
        json.withUnsafeBytes { buffer.append($0) }
    }

    /// A value that is JSON already, on one line.
    public mutating func raw(_ json: UnsafeRawBufferPointer) {
        separate()
        buffer.append(json)
    }

    /// A string from bytes that are known to be UTF-8.
    mutating func validString(_ value: UnsafeRawBufferPointer) {
        if JSONEscape.isPlain(value) { return plainString(value) }
        separate()
        buffer.reserve(value.count &+ 2)
        buffer.appendReserved(UInt8(ascii: "\""))
        var start = 0
        while start < value.count {
            let end = JSONEscape.firstEscape(in: value, from: start)
            buffer.append(UnsafeRawBufferPointer(rebasing: value[start..<end]))
            guard end < value.count else { break }
            JSONEscape.append(value[end], to: &buffer)
            start = end &+ 1
        }
        buffer.append(UInt8(ascii: "\""))
    }

    /// A string from printable ASCII without quotes and backslashes.
    private mutating func plainString(_ value: UnsafeRawBufferPointer) {
        separate()
        buffer.reserve(value.count &+ 2)
        buffer.appendReserved(UInt8(ascii: "\""))
        buffer.append(value)
        buffer.appendReserved(UInt8(ascii: "\""))
    }

    /// The number of bytes that `string(utf8:)` writes for well-formed UTF-8, including the quotes.
    public static func encodedLength(ofText value: UnsafeRawBufferPointer) -> Int {
        var length = value.count &+ 2
        var position = JSONEscape.firstEscape(in: value, from: 0)
        while position < value.count {
            length &+= JSONEscape.length(of: value[position]) &- 1
            position = JSONEscape.firstEscape(in: value, from: position &+ 1)
        }
        return length
    }

    private mutating func digits(_ value: UInt64) {
        // 2^64 has 20 digits. They are computed in reverse order, so they are written at the end of the reserved bytes
        // and moved to the beginning.
        buffer.reserve(20)
        buffer.appendReserved(capacity: 20) { buffer in
            var position = buffer.count
            var rest = value
            repeat {
                position &-= 1
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                buffer[position] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
                rest = quotient
            } while rest > 0
            let count = buffer.count &- position
            for i in 0..<count { buffer[i] = buffer[position &+ i] }
            return count
        }
    }

    /// Whether bytes are well-formed UTF-8 (RFC 3629), and `text` would write them as a string.
    public static func isUTF8(_ value: UnsafeRawBufferPointer) -> Bool {
        firstInvalidUTF8(value) == nil
    }

    /// The offset of the first byte that is not well-formed UTF-8.
    static func firstInvalidUTF8(_ value: UnsafeRawBufferPointer) -> Int? {
        value.withMemoryRebound(to: UInt8.self) { bytes in
            do throws(UTF8.ValidationError) {
                _ = try UTF8Span(validating: bytes.span)
                return nil
            } catch {
                return error.byteOffsets.lowerBound
            }
        }
    }
}
