/// The characters of a JSON string that must be escaped (RFC 8259 §7).
enum JSONEscape {
    /// For each byte: 0 if it needs no escape, `u` for the six-character form, otherwise the letter after the
    /// backslash.
    private static let letters: [UInt8] = {
        var table = [UInt8](repeating: 0, count: 256)
        for control in 0..<0x20 { table[control] = UInt8(ascii: "u") }
        // DEL needs no escape in JSON, but a terminal that prints the line should not act on it.
        table[0x7F] = UInt8(ascii: "u")
        for (byte, letter) in zip("\"\\\u{8}\u{C}\n\r\t".utf8, "\"\\bfnrt".utf8) { table[Int(byte)] = letter }
        return table
    }()

    private static let hexDigits = Array("0123456789abcdef".utf8)

    /// The offset of the first byte, from `start` on, that must be escaped; the end if there is none.
    static func firstEscape(in value: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start
        while value.count &- position >= 8 {
            let word = value.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            if mayNeedEscape(word) { break }
            position &+= 8
        }
        return letters.withUnsafeBufferPointer { letters in
            while position < value.count, letters[Int(value[position])] == 0 { position &+= 1 }
            return position
        }
    }

    /// Whether the bytes are printable ASCII that needs no escape, as nearly all names, addresses and field values are.
    /// Such bytes are UTF-8 too, so that one pass decides both.
    static func isPlain(_ value: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while value.count &- position >= 8 {
            let word = value.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            if word & 0x8080_8080_8080_8080 != 0 || mayNeedEscape(word) { return false }
            position &+= 8
        }
        while position < value.count {
            let byte = value[position]
            guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
                return false
            }
            position &+= 1
        }
        return true
    }

    /// Length of the byte's escape sequence.
    static func length(of byte: UInt8) -> Int { letters[Int(byte)] == UInt8(ascii: "u") ? 6 : 2 }

    /// Appends the escaped form of a byte.
    static func append(_ byte: UInt8, to bytes: inout TextBuffer) {
        let letter = letters[Int(byte)]
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(letter)
        guard letter == UInt8(ascii: "u") else { return }
        bytes.append(UInt8(ascii: "0"))
        bytes.append(UInt8(ascii: "0"))
        bytes.append(hexDigits[Int(byte >> 4)])
        bytes.append(hexDigits[Int(byte & 15)])
    }

    /// Checks eight bytes at once. May return true although no byte needs an escape, but never false if one does.
    private static func mayNeedEscape(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let backslash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let delete = word ^ (ones &* 0x7F)
        let found =
            (word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
            | (delete &- ones) & ~delete
        return found & (ones &* 0x80) != 0
    }
}
