internal import CarpoolHTTP

/// Functions on the bytes of fields.
enum FieldBytes {
    /// Whether bytes are a word of ASCII, compared without case. The word is in lower case.
    static func matches(_ bytes: UnsafeRawBufferPointer, _ word: StaticString) -> Bool {
        guard bytes.count == word.utf8CodeUnitCount else { return false }
        for i in 0..<bytes.count where lowered(bytes[i]) != word.utf8Start[i] { return false }
        return true
    }

    /// Whether bytes are other bytes, compared without case. The others are in lower case.
    static func matches(_ bytes: UnsafeRawBufferPointer, _ word: [UInt8]) -> Bool {
        guard bytes.count == word.count else { return false }
        for i in 0..<bytes.count where lowered(bytes[i]) != word[i] { return false }
        return true
    }

    /// A letter in lower case; any other byte as it is.
    static func lowered(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }

    /// Whether a byte is optional white space (RFC 9110, section 5.6.3).
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Bytes without white space at their ends.
    static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var start = 0
        var end = bytes.count
        while start < end, isBlank(bytes[start]) { start += 1 }
        while end > start, isBlank(bytes[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    /// Calls a function with each member of a list (RFC 9110, section 5.6.1) without white space at its ends, empty
    /// ones left out, until it returns false. Commas in quoted strings separate nothing. Returns false if a quoted
    /// string has no end: its quotation mark, and those after it, are then read as any other character.
    @discardableResult static func forEachMember(
        of list: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        var start = 0
        var position = 0
        var hasQuotes = true
        while position <= list.count {
            if position == list.count || list[position] == UInt8(ascii: ",") {
                let member = trimmed(UnsafeRawBufferPointer(rebasing: list[start..<position]))
                if !member.isEmpty, !body(member) { break }
                start = position + 1
            } else if hasQuotes, list[position] == UInt8(ascii: "\"") {
                if let end = endOfQuoted(list, from: position) { position = end } else { hasQuotes = false }
            }
            position += 1
        }
        return hasQuotes
    }

    /// The position of the quotation mark that ends a quoted string; `nil` without one.
    static func endOfQuoted(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var position = start + 1
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "\"") { return position }
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    /// Maximum number of bytes of all lists of a name that are read: an origin may send a head of 300,000 bytes, and
    /// over HTTP/2 a hundred of them in a few kilobytes.
    static let maximumListBytes = 8_192

    /// The names in the first ``maximumListBytes`` of lists, in lower case, each once.
    static func names(in lists: [[UInt8]]) -> Set<[UInt8]> {
        var names: Set<[UInt8]> = []
        var bytesLeft = maximumListBytes
        for list in lists where bytesLeft > 0 {
            list.prefix(bytesLeft).withUnsafeBytes { bytes in
                _ = forEachMember(of: bytes) { names.insert($0.map(lowered)).inserted || true }
            }
            bytesLeft -= list.count
        }
        return names
    }
}

extension HTTPField {
    /// Calls a function with the bytes of the value.
    func withValue<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        var value = value
        return value.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
