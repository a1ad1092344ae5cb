/// The encodings of text that a body may use. Decoding is strict: invalid bytes fail.
public enum TextEncoding: String, CaseIterable, Sendable {
    /// RFC 3629.
    case utf8 = "utf-8"
    /// Seven bits.
    case ascii = "us-ascii"
    /// Every byte is the character of its number. Not treated as `windows-1252`, unlike in browsers.
    case latin1 = "iso-8859-1"
    /// ISO-8859-1 with printable characters at 0x80 to 0x9F, of which five are undefined.
    case windows1252 = "windows-1252"
    /// A byte order mark selects the order; without one it is big-endian (RFC 2781, section 4.3).
    case utf16 = "utf-16"
    /// Low byte first.
    case utf16LittleEndian = "utf-16le"
    /// High byte first.
    case utf16BigEndian = "utf-16be"
    /// A byte order mark selects the order; without one it is big-endian (Unicode, section 3.10).
    case utf32 = "utf-32"
    /// Low byte first.
    case utf32LittleEndian = "utf-32le"
    /// High byte first.
    case utf32BigEndian = "utf-32be"

    /// The names of charsets that the session model knows (RS-04), whatever their case. Others are `nil`.
    init?(modelCharset name: String) {
        switch name.lowercased() {
        case "unicode-1-1", "iso-10646-ucs-2": self = .utf16
        case "us-ascii", "windows-1252": return nil
        case let name: self.init(rawValue: name)
        }
    }

    /// The names of all known charsets, whatever their case: those of the model, and the usual aliases.
    init?(charset name: String) {
        switch name.lowercased() {
        case "unicode-1-1", "iso-10646-ucs-2": self = .utf16
        case "utf8": self = .utf8
        case "ascii": self = .ascii
        case "latin1", "iso8859-1": self = .latin1
        case "cp1252": self = .windows1252
        case let name: self.init(rawValue: name)
        }
    }

    /// The encoding of a byte order mark at the beginning. The mark of UTF-32 begins like that of UTF-16, so it is
    /// checked first.
    static func byteOrderMark(of bytes: [UInt8]) -> TextEncoding? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) { return .utf32LittleEndian }
        if bytes.starts(with: [0, 0, 0xFE, 0xFF]) { return .utf32BigEndian }
        if bytes.starts(with: [0xFF, 0xFE]) { return .utf16LittleEndian }
        return bytes.starts(with: [0xFE, 0xFF]) ? .utf16BigEndian : nil
    }

    /// Decodes the bytes, without a byte order mark; `nil` if some of them are invalid.
    public func decode(_ bytes: [UInt8]) -> String? {
        switch self {
        case .utf8:
            let hasMark = TextEncoding.byteOrderMark(of: bytes) == .utf8
            return String(validating: hasMark ? bytes[3...] : bytes[...], as: UTF8.self)
        case .ascii: return bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
        case .latin1: return ScalarWriter.text(maximumBytes: bytes.count &* 2) { Self.write(latin1: bytes, to: &$0) }
        case .windows1252:
            return ScalarWriter.text(maximumBytes: bytes.count &* 3) { Self.write(windows1252: bytes, to: &$0) }
        case .utf16: return (bytes.starts(with: [0xFF, 0xFE]) ? Self.utf16LittleEndian : .utf16BigEndian).decode(bytes)
        case .utf16LittleEndian: return TextEncoding.decode(utf16: bytes, high: 1)
        case .utf16BigEndian: return TextEncoding.decode(utf16: bytes, high: 0)
        case .utf32:
            return (bytes.starts(with: [0xFF, 0xFE, 0, 0]) ? Self.utf32LittleEndian : .utf32BigEndian).decode(bytes)
        case .utf32LittleEndian: return TextEncoding.decode(utf32: bytes, highest: 3)
        case .utf32BigEndian: return TextEncoding.decode(utf32: bytes, highest: 0)
        }
    }

    private static func write(latin1 bytes: [UInt8], to text: inout ScalarWriter) -> Bool {
        for byte in bytes { text.append(UInt32(byte)) }
        return true
    }

    /// 0x80 to 0x9F; 0 where there is no character.
    private static let windows1252Specials: [UInt32] = [
        0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
        0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
        0x0178,
    ]

    private static func write(windows1252 bytes: [UInt8], to text: inout ScalarWriter) -> Bool {
        let specials = windows1252Specials
        for byte in bytes {
            let isSpecial = byte & 0xE0 == 0x80
            let scalar = isSpecial ? specials[Int(byte & 0x1F)] : UInt32(byte)
            if isSpecial, scalar == 0 { return false }
            text.append(scalar)
        }
        return true
    }

    /// `high` is the index of the high byte in a unit: 0 or 1.
    private static func decode(utf16 bytes: [UInt8], high: Int) -> String? {
        guard bytes.count % 2 == 0 else { return nil }
        return ScalarWriter.text(maximumBytes: bytes.count / 2 &* 3) { text in
            var lead: UInt32?
            for start in stride(from: 0, to: bytes.count, by: 2) {
                let unit = UInt32(bytes[start &+ high]) << 8 | UInt32(bytes[start &+ 1 &- high])
                let isTrail = unit & 0xFC00 == 0xDC00
                guard isTrail == (lead != nil) else { return false }
                if let first = lead {
                    text.append(0x10000 &+ (first & 0x3FF) << 10 &+ unit & 0x3FF)
                    lead = nil
                } else if unit & 0xFC00 == 0xD800 {
                    lead = unit
                } else if start > 0 || unit != 0xFEFF {
                    text.append(unit)
                }
            }
            return lead == nil
        }
    }

    /// `highest` is the index of the highest byte in a unit: 0 or 3.
    private static func decode(utf32 bytes: [UInt8], highest: Int) -> String? {
        guard bytes.count % 4 == 0 else { return nil }
        return ScalarWriter.text(maximumBytes: bytes.count) { text in
            for start in stride(from: 0, to: bytes.count, by: 4) {
                var unit: UInt32 = 0
                for place in 0..<4 { unit = unit << 8 | UInt32(bytes[start &+ (highest == 0 ? place : 3 &- place)]) }
                guard unit < 0x11_0000, unit & 0xFFFF_F800 != 0xD800 else { return false }
                if start > 0 || unit != 0xFEFF { text.append(unit) }
            }
            return true
        }
    }
}
