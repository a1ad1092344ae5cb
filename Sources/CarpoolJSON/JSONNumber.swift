/// Reads the text of a number (RFC 8259, section 6).
public enum JSONNumber {
    /// The result of reading a number.
    struct Reading {
        /// The offset after the number, or of the first invalid byte.
        var end: Int
        var isNumber = true
        /// Whether an `Int64` preserves the spelling of the number.
        var isPlainInteger = false
    }

    /// Whether a text is a number and nothing else.
    public static func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        guard begins(text) else { return false }
        let reading = read(text, from: 0)
        return reading.isNumber && reading.end == text.count
    }

    /// Reads the number that begins at an offset, with a digit or a minus sign.
    static func read(_ text: UnsafeRawBufferPointer, from start: Int) -> Reading {
        var place = start
        if text[place] == UInt8(ascii: "-") { place &+= 1 }
        var isPlain: Bool
        if place < text.count, text[place] == UInt8(ascii: "0") {
            place &+= 1
            // An integer has no -0 and would lose the sign.
            isPlain = place &- start == 1
        } else {
            guard digits(text, &place) else { return Reading(end: place, isNumber: false) }
            isPlain = place &- start <= 18
        }
        if place < text.count, text[place] == UInt8(ascii: ".") {
            isPlain = false
            place &+= 1
            guard digits(text, &place) else { return Reading(end: place, isNumber: false) }
        }
        if place < text.count, text[place] | 0x20 == UInt8(ascii: "e") {
            isPlain = false
            place &+= 1
            if place < text.count, text[place] == UInt8(ascii: "+") || text[place] == UInt8(ascii: "-") { place &+= 1 }
            guard digits(text, &place) else { return Reading(end: place, isNumber: false) }
        }
        return Reading(end: place, isPlainInteger: isPlain)
    }

    @inline(__always)
    private static func digits(_ text: UnsafeRawBufferPointer, _ place: inout Int) -> Bool {
        let start = place
        while place < text.count, text[place] &- UInt8(ascii: "0") < 10 { place &+= 1 }
        return place > start
    }

    /// Whether the text of a JSON value begins like a number.
    static func begins(_ text: UnsafeRawBufferPointer) -> Bool {
        text.first.map { $0 == UInt8(ascii: "-") || $0 &- UInt8(ascii: "0") < 10 } ?? false
    }

    /// Which kind of number it is.
    static func kind(_ text: UnsafeRawBufferPointer) -> JSON.Kind {
        let isReal = text.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
        if isReal { return double(text) == nil ? .bigNumber : .real }
        return Int64(String(decoding: text, as: UTF8.self)) == nil ? .bigNumber : .integer
    }

    /// The nearest double; `nil` if the number is beyond all of them.
    static func double(_ text: UnsafeRawBufferPointer) -> Double? {
        Double(String(decoding: text, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
    }
}
