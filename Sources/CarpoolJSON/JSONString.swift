/// Reads the content of strings that the tokenizer has accepted.
public enum JSONString {
    /// The decoded string of the text of a value; `nil` if the value is not a string.
    public static func text(of value: UnsafeRawBufferPointer) -> String? {
        guard value.first == UInt8(ascii: "\""), value.count >= 2 else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: value[1..<value.count &- 1])
        guard content.contains(UInt8(ascii: "\\")) else { return String(decoding: content, as: UTF8.self) }
        return String(decoding: decode(content), as: UTF8.self)
    }

    /// The decoded name of a text without quotes, or the beginning of a long one.
    public static func name(of content: UnsafeRawBufferPointer) -> String {
        let shown = 64
        let name = decode(content)
        return String(decoding: name.prefix(shown), as: UTF8.self) + (name.count > shown ? "..." : "")
    }

    /// The offset of the first byte from `start` on that ends a run of plain characters: a quote, a backslash, a
    /// control character or DEL; the end if there is none.
    /// - Parameter seen: the bits of all bytes that were read are added to it, so that it shows whether one of them is
    ///   not ASCII. A few bytes after the run are read too.
    @inline(__always)
    static func endOfRun(_ text: UnsafeRawBufferPointer, from start: Int, seen: inout UInt64) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var position = start
        while text.count &- position >= 8 {
            let word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            seen |= word
            let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
            let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            let delete = word ^ (ones &* 0x7F)
            let found =
                ((word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
                    | (delete &- ones) & ~delete) & (ones &* 0x80)
            // A borrow may mark bytes above the first that is found, never below it.
            if found != 0 { return position &+ found.trailingZeroBitCount / 8 }
            position &+= 8
        }
        while position < text.count {
            let byte = text[position]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F { break }
            seen |= UInt64(byte)
            position &+= 1
        }
        return position
    }

    /// The decoded bytes of the content of a string.
    static func decode(_ content: UnsafeRawBufferPointer) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(content.count)
        var position = 0
        var seen: UInt64 = 0
        while position < content.count {
            let end = endOfRun(content, from: position, seen: &seen)
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: content[position..<end]))
            guard end < content.count else { break }
            if content[end] == UInt8(ascii: "\\"), content.count &- end >= 2 {
                position = unescape(content, at: end, into: &output)
            } else {
                output.append(content[end])
                position = end &+ 1
            }
        }
        return output
    }

    /// Appends the characters of an escape sequence, and returns the offset after it.
    private static func unescape(_ content: UnsafeRawBufferPointer, at start: Int, into output: inout [UInt8]) -> Int {
        switch content[start &+ 1] {
        case UInt8(ascii: "b"): output.append(0x08)
        case UInt8(ascii: "f"): output.append(0x0C)
        case UInt8(ascii: "n"): output.append(0x0A)
        case UInt8(ascii: "r"): output.append(0x0D)
        case UInt8(ascii: "t"): output.append(0x09)
        case UInt8(ascii: "u"):
            var value = codeUnit(content, at: start &+ 2)
            var end = start &+ 6
            if value & 0xFC00 == 0xD800 {
                value = 0x10000 &+ (value & 0x3FF) << 10 &+ codeUnit(content, at: end &+ 2) & 0x3FF
                end &+= 6
            }
            if let bytes = UTF8.encode(Unicode.Scalar(value) ?? "\u{FFFD}") { output.append(contentsOf: bytes) }
            return end
        case let byte: output.append(byte)
        }
        return start &+ 2
    }

    /// The value of four hexadecimal digits; 0 where there are none.
    static func codeUnit(_ text: UnsafeRawBufferPointer, at start: Int) -> UInt32 {
        guard text.count &- start >= 4 else { return 0 }
        var value: UInt32 = 0
        for place in start..<start &+ 4 { value = value << 4 | UInt32(hexValue(text[place]) & 15) }
        return value
    }

    /// The value of a hexadecimal digit; 0xFF for any other byte.
    static func hexValue(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
        default: 0xFF
        }
    }
}
