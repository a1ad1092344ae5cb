/// Appends compact JSON to a byte array: one line, UTF-8, shortest round-trip reals.
///
/// Every reply of the daemon is written by it, so it makes no intermediate strings. Commas are its business; that keys and
/// values alternate and what is opened is closed is the caller's.
public struct JSONWriter {
    /// What has been written so far.
    public var bytes: [UInt8]
    private var needsComma = false

    /// A writer that appends to the bytes it is given.
    public init(into bytes: [UInt8] = []) { self.bytes = bytes }

    /// Opens an object.
    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// Closes an object.
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Opens an array.
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    /// Closes an array.
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Forgets the comma that is due, for the next text of its own in the same buffer.
    public mutating func beginText() { needsComma = false }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// A member's name known at compile time; must need no escape.
    public mutating func key(_ name: StaticString) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = false
        bytes.append(UInt8(ascii: "\""))
        append(name)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
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
        bytes.append(UInt8(ascii: ":"))
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
        bytes.append(UInt8(ascii: "\""))
        append(value)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A string from bytes; what is not UTF-8 in them becomes U+FFFD.
    public mutating func string(utf8: UnsafeRawBufferPointer) {
        if Self.isUTF8(utf8) { validString(utf8) } else { string(String(decoding: utf8, as: UTF8.self)) }
    }

    /// Bytes from outside: a string if they are UTF-8, else `{"base64": "..."}`.
    public mutating func text(_ value: UnsafeRawBufferPointer) {
        if Self.isUTF8(value) { return validString(value) }
        beginObject()
        key("base64")
        base64(value)
        endObject()
    }

    /// A string of base64 (RFC 4648 §4).
    public mutating func base64(_ value: UnsafeRawBufferPointer) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        Base64.encode(value, into: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// An integer.
    public mutating func integer(_ value: Int64) {
        separate()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
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

    /// A real in the shortest form that reads back the same; null for infinities and NaN, which JSON cannot say.
    public mutating func real(_ value: Double) {
        guard value.isFinite else { return null() }
        separate()
        bytes.append(contentsOf: value.description.utf8)
    }

    /// `true` or `false`.
    public mutating func bool(_ value: Bool) {
        separate()
        append(value ? "true" : "false")
    }

    /// `null`
    public mutating func null() {
        separate()
        append("null")
    }

    /// A value that is JSON already, on one line.
    public mutating func raw(_ json: [UInt8]) {
        separate()
        bytes.append(contentsOf: json)
    }

    /// A value that is JSON already, on one line.
    public mutating func raw(_ json: UnsafeRawBufferPointer) {
        separate()
        bytes.append(contentsOf: json)
    }

    /// A string from bytes that are known to be UTF-8.
    mutating func validString(_ value: UnsafeRawBufferPointer) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        var start = 0
        while start < value.count {
            let end = JSONEscape.firstEscape(in: value, from: start)
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: value[start..<end]))
            guard end < value.count else { break }
            JSONEscape.append(value[end], to: &bytes)
            start = end &+ 1
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// How many bytes `string(utf8:)` would write for well-formed UTF-8, the quotes included.
    public static func encodedLength(ofText value: UnsafeRawBufferPointer) -> Int {
        var length = value.count &+ 2
        var position = JSONEscape.firstEscape(in: value, from: 0)
        while position < value.count {
            length &+= JSONEscape.length(of: value[position]) &- 1
            position = JSONEscape.firstEscape(in: value, from: position &+ 1)
        }
        return length
    }

    private mutating func append(_ text: StaticString) {
        guard text.hasPointerRepresentation else {
            return bytes.append(contentsOf: String(text.unicodeScalar).utf8)
        }
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func digits(_ value: UInt64) {
        if value < 10 { return bytes.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value)) }
        // 2^64 has 20 digits.
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { buffer in
            var position = buffer.count
            var rest = value
            repeat {
                position &-= 1
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                buffer[position] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
                rest = quotient
            } while rest > 0
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[position...]))
        }
    }

    /// Whether bytes are well-formed UTF-8 (RFC 3629), and `text` would write them as a string.
    public static func isUTF8(_ value: UnsafeRawBufferPointer) -> Bool {
        value.withMemoryRebound(to: UInt8.self) { (try? UTF8Span(validating: $0.span)) != nil }
    }
}
