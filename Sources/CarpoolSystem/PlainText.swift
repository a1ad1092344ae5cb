/// Text that is safe to print on a terminal, and in a log: control characters (C0 and C1), formatting characters such
/// as those of bidirectional text, and line separators are escaped as `\u{202e}`; bytes of paths that are not UTF-8
/// (``SystemPath``) as `\xe9`.
public enum PlainText {
    /// Escapes all characters that are not printable.
    public static func escaped(_ text: String) -> String {
        guard !isPlain(text) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            if isPrintable(scalar) {
                escaped.unicodeScalars.append(scalar)
            } else if let byte = SystemPath.byte(of: scalar) {
                escaped += "\\x\(String(byte, radix: 16))"
            } else {
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return escaped
    }

    /// Escapes the same characters by escapes of JSON, which do not change the value. Line feeds between messages stay.
    public static func escapedJSON(_ json: [UInt8]) -> [UInt8] {
        let text = String(decoding: json, as: UTF8.self)
        guard !isPlain(text) else { return json }
        var escaped = ""
        for scalar in text.unicodeScalars {
            if scalar == "\n" || isPrintable(scalar) {
                escaped.unicodeScalars.append(scalar)
            } else {
                for unit in Unicode.UTF16.encode(scalar) ?? Unicode.UTF16.encodedReplacementCharacter {
                    let digits = String(unit, radix: 16)
                    escaped += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
                }
            }
        }
        return Array(escaped.utf8)
    }

    /// Whether all characters are printable.
    public static func isPrintable(_ text: String) -> Bool {
        isPlain(text) || text.unicodeScalars.allSatisfy(isPrintable)
    }

    /// Whether the text is printable ASCII.
    private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }
}
