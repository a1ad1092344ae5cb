extension JSONTokenizer {
    mutating func escape(_ text: UnsafeRawBufferPointer, isName: Bool) -> Bool {
        let start = position
        guard text.count &- start >= 2 else {
            return fail(.incomplete, "the text ends inside a string", at: text.count)
        }
        switch text[start &+ 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position = start &+ 2
            return true
        case UInt8(ascii: "u"): break
        default: return fail(.syntax, "unknown escape sequence", at: start)
        }
        guard let unit = codeUnit(text, at: start) else { return false }
        if isName, unit <= 1 {
            outline.nameEscapes.append(UInt32(truncatingIfNeeded: start))
            if unit == 0 { outline.hasNullInName = true }
        }
        position = start &+ 6
        switch unit & 0xFC00 {
        case 0xDC00: return fail(.syntax, "the second half of a surrogate pair stands alone", at: start)
        case 0xD800: return lowSurrogate(text)
        default: return true
        }
    }

    private mutating func lowSurrogate(_ text: UnsafeRawBufferPointer) -> Bool {
        let start = position
        for (index, byte) in [UInt8(ascii: "\\"), UInt8(ascii: "u")].enumerated() {
            guard start &+ index < text.count else {
                return fail(.incomplete, "the text ends inside a string", at: text.count)
            }
            guard text[start &+ index] == byte else {
                return fail(.syntax, "the first half of a surrogate pair stands alone", at: start)
            }
        }
        guard let unit = codeUnit(text, at: start) else { return false }
        guard unit & 0xFC00 == 0xDC00 else {
            return fail(.syntax, "the first half of a surrogate pair stands alone", at: start)
        }
        position = start &+ 6
        return true
    }

    /// The value of the four digits after the backslash and the `u` at an offset.
    private mutating func codeUnit(_ text: UnsafeRawBufferPointer, at start: Int) -> UInt32? {
        for place in start &+ 2..<start &+ 6 {
            guard place < text.count else {
                _ = fail(.incomplete, "the text ends inside a string", at: text.count)
                return nil
            }
            guard JSONString.hexValue(text[place]) < 16 else {
                _ = fail(.syntax, "four hexadecimal digits should be here", at: place)
                return nil
            }
        }
        return JSONString.codeUnit(text, at: start &+ 2)
    }

    /// Reads a number, and records its position unless an `Int64` preserves its spelling.
    mutating func number(_ text: UnsafeRawBufferPointer) -> Bool {
        let start = position
        let reading = JSONNumber.read(text, from: start)
        guard reading.isNumber else {
            return reading.end < text.count
                ? fail(.syntax, "a digit should be here", at: reading.end)
                : fail(.incomplete, "the text ends inside a number", at: reading.end)
        }
        position = reading.end
        if !reading.isPlainInteger { outline.numbers.append(JSONSpan(start, position)) }
        return true
    }
}
