/// The characters that percent-encoding does not change: printable ASCII at most, since everything else would break a
/// URL (RFC 3986, section 2).
public struct AllowedCharacters: Sendable, Equatable {
    /// One bit for each ASCII character.
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    /// Letters, digits and `-._~`, which need no encoding anywhere, and `?/`, which a query may hold (PE-11).
    public static let query = AllowedCharacters(besidesAlphanumerics: "-._~?/")

    /// ASCII letters and digits, and the characters of the text. A blank, a `#` (which would end the query), and
    /// non-printable or non-ASCII characters are ignored.
    public init(besidesAlphanumerics text: String) {
        self.init("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + text)
    }

    /// Exactly the characters of the text, with the exceptions of ``init(besidesAlphanumerics:)``.
    public init(_ text: String) {
        for scalar in text.unicodeScalars where AllowedCharacters.isPossible(scalar) {
            if scalar.value < 64 { low |= 1 << UInt64(scalar.value) } else { high |= 1 << UInt64(scalar.value &- 64) }
        }
    }

    /// Whether the character may be in a set at all.
    public static func isPossible(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value > 0x20 && scalar.value < 0x7F && scalar != "#"
    }

    /// Whether the set contains the character.
    public func contains(_ byte: UInt8) -> Bool {
        byte < 0x80 && (byte < 64 ? low >> UInt64(byte) : high >> UInt64(byte &- 64)) & 1 == 1
    }

    /// The text with all other characters as the percent-encoded bytes of their UTF-8, hexadecimal digits in upper case
    /// (RFC 3986, section 2.1), and a space as `+` if requested.
    public func percentEncode(_ text: String, spaceAsPlus: Bool = false) -> String {
        if text.utf8.allSatisfy(contains) { return text }
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count &* 2)
        for byte in text.utf8 {
            if spaceAsPlus, byte == UInt8(ascii: " ") {
                output.append(UInt8(ascii: "+"))
            } else if contains(byte) {
                output.append(byte)
            } else {
                output.append(UInt8(ascii: "%"))
                output.append(AllowedCharacters.digit(byte >> 4))
                output.append(AllowedCharacters.digit(byte & 15))
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "A") &- 10 &+ value
    }
}
