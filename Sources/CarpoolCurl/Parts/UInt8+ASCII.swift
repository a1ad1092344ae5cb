/// The classes of bytes that curl's parsers distinguish. Bytes beyond ASCII are in none of them.
extension UInt8 {
    /// A space or a tab.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == 9 }

    /// A blank, a line end, a vertical tab or a form feed.
    var isSpace: Bool { isBlank || (10...13).contains(self) }

    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isUppercase: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }

    var isLetter: Bool { isUppercase || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    /// The value of a hexadecimal digit; `nil` for other bytes.
    var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The small letter of a capital; other bytes are unchanged.
    var lowercase: UInt8 { isUppercase ? self + 32 : self }

    /// The two hexadecimal digits of a byte, with capitals.
    var hexadecimal: [UInt8] { [UInt8.digit(self >> 4), UInt8.digit(self & 15)] }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

extension Collection<UInt8> {
    /// Whether it begins with a text, without regard to the case of letters of ASCII.
    func hasPrefixIgnoringCase(_ prefix: String) -> Bool {
        self.prefix(prefix.utf8.count).equalsIgnoringCase(prefix.utf8)
    }

    /// Whether both are equal without regard to the case of letters of ASCII.
    func equalsIgnoringCase(_ other: some Collection<UInt8>) -> Bool {
        // By indices: a short program would make the types of zip's iterator, which takes 330,000 instructions.
        var (place, otherPlace) = (startIndex, other.startIndex)
        while place != endIndex, otherPlace != other.endIndex {
            guard self[place].lowercase == other[otherPlace].lowercase else { return false }
            formIndex(after: &place)
            other.formIndex(after: &otherPlace)
        }
        return place == endIndex && otherPlace == other.endIndex
    }

    /// The text; bytes that are not UTF-8 are replaced.
    var text: String { String(decoding: self, as: UTF8.self) }
}

extension BidirectionalCollection<UInt8> {
    /// Without blanks at both ends.
    var trimmingBlanks: SubSequence {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return self[startIndex..<startIndex]
        }
        return self[first...last]
    }
}
