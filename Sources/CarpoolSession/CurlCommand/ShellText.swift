/// Text quoted for a POSIX shell (POSIX.1-2017, Shell Command Language, section 2.2.2).
enum ShellText {
    /// In single quotes, where every byte but the quote is literal.
    static func quoted(_ text: String) -> String {
        var result = "'"
        for scalar in text.unicodeScalars {
            if scalar == "'" { result += "'\\''" } else { result.unicodeScalars.append(scalar) }
        }
        return result + "'"
    }

    /// The bytes as text, if a terminal can show and accept all of it: UTF-8 without control characters other than line
    /// feeds.
    static func printable(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let isPrintable = text.unicodeScalars.allSatisfy { scalar in
            if scalar.isASCII { return scalar.value >= 0x20 && scalar.value < 0x7F || scalar == "\n" }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: return false
            default: return true
            }
        }
        return isPrintable ? text : nil
    }

    /// The quoted printf format that writes these bytes. Octal escapes have three digits, so that a digit may follow.
    static func format(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "%"): result += Array("%%".utf8)
            // A leading dash would begin an option.
            case UInt8(ascii: "-") where index > 0: result.append(byte)
            case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "-"), 0..<0x20, 0x7F...: result += octal(byte)
            default: result.append(byte)
            }
        }
        return "'\(String(decoding: result, as: UTF8.self))'"
    }

    private static func octal(_ byte: UInt8) -> [UInt8] {
        let zero = UInt8(ascii: "0")
        return [UInt8(ascii: "\\"), zero &+ byte >> 6, zero &+ byte >> 3 & 7, zero &+ byte & 7]
    }
}
