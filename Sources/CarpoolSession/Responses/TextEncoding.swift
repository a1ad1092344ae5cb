/// The ways of writing text as bytes that a body may use. Decoding is strict: bytes that stand for no character make no text.
public enum TextEncoding: String, CaseIterable, Sendable {
    /// RFC 3629.
    case utf8 = "utf-8"
    /// Seven bits.
    case ascii = "us-ascii"
    /// Every byte is the character of its number. Not taken for `windows-1252`, as browsers do.
    case latin1 = "iso-8859-1"
    /// ISO-8859-1 with printable characters at 0x80 to 0x9F, of which five stand for nothing.
    case windows1252 = "windows-1252"
    /// A byte order mark tells the order; without one the order is big-endian (RFC 2781, section 4.3).
    case utf16 = "utf-16"
    /// Low byte first.
    case utf16LittleEndian = "utf-16le"
    /// High byte first.
    case utf16BigEndian = "utf-16be"
    /// A byte order mark tells the order; without one the order is big-endian (Unicode, section 3.10).
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

    /// The names of charsets that are known here, whatever their case: those of the model, and the usual other names.
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

    /// What a byte order mark at the beginning says. The mark of UTF-32 begins like that of UTF-16, so it is looked for first.
    static func byteOrderMark(of bytes: [UInt8]) -> TextEncoding? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) { return .utf32LittleEndian }
        if bytes.starts(with: [0, 0, 0xFE, 0xFF]) { return .utf32BigEndian }
        if bytes.starts(with: [0xFF, 0xFE]) { return .utf16LittleEndian }
        return bytes.starts(with: [0xFE, 0xFF]) ? .utf16BigEndian : nil
    }

    /// The text that the bytes stand for, without a byte order mark; `nil` if some of them stand for no character.
    public func decode(_ bytes: [UInt8]) -> String? {
        switch self {
        case .utf8:
            let hasMark = TextEncoding.byteOrderMark(of: bytes) == .utf8
            return String(validating: hasMark ? bytes[3...] : bytes[...], as: UTF8.self)
        case .ascii: return bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
        case .latin1: return TextEncoding.decode(latin1: bytes)
        case .windows1252: return TextEncoding.decode(windows1252: bytes)
        case .utf16: return (bytes.starts(with: [0xFF, 0xFE]) ? Self.utf16LittleEndian : .utf16BigEndian).decode(bytes)
        case .utf16LittleEndian: return TextEncoding.decode(utf16: bytes, high: 1)
        case .utf16BigEndian: return TextEncoding.decode(utf16: bytes, high: 0)
        case .utf32:
            return (bytes.starts(with: [0xFF, 0xFE, 0, 0]) ? Self.utf32LittleEndian : .utf32BigEndian).decode(bytes)
        case .utf32LittleEndian: return TextEncoding.decode(utf32: bytes, highest: 3)
        case .utf32BigEndian: return TextEncoding.decode(utf32: bytes, highest: 0)
        }
    }

    /// Every byte becomes one byte of UTF-8 or two.
    private static func decode(latin1 bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: bytes.count &* 2) { output in
            var count = 0
            for byte in bytes {
                if byte >= 0x80 {
                    output[count] = 0xC0 | byte >> 6
                    count &+= 1
                }
                output[count] = byte < 0x80 ? byte : 0x80 | byte & 0x3F
                count &+= 1
            }
            return count
        }
    }

    /// 0x80 to 0x9F; 0 where there is no character.
    private static let windows1252Specials: [UInt16] = [
        0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
        0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
        0x0178,
    ]

    private static func decode(windows1252 bytes: [UInt8]) -> String? {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count)
        for byte in bytes {
            let isSpecial = (0x80...0x9F).contains(byte)
            let unit = isSpecial ? windows1252Specials[Int(byte & 0x1F)] : UInt16(byte)
            if isSpecial, unit == 0 { return nil }
            units.append(unit)
        }
        return String(validating: units, as: UTF16.self)
    }

    /// `high` is the place of the high byte in a unit.
    private static func decode(utf16 bytes: [UInt8], high: Int) -> String? {
        guard bytes.count % 2 == 0 else { return nil }
        var units = stride(from: 0, to: bytes.count, by: 2).lazy.map {
            UInt16(bytes[$0 &+ high]) << 8 | UInt16(bytes[$0 &+ 1 &- high])
        }[...]
        if units.first == 0xFEFF { units = units.dropFirst() }
        return String(validating: units, as: UTF16.self)
    }

    /// `highest` is the place of the highest byte in a unit: 0 or 3.
    private static func decode(utf32 bytes: [UInt8], highest: Int) -> String? {
        guard bytes.count % 4 == 0 else { return nil }
        var units = stride(from: 0, to: bytes.count, by: 4).map { start in
            (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[start &+ (highest == 0 ? $1 : 3 &- $1)]) }
        }[...]
        if units.first == 0xFEFF { units = units.dropFirst() }
        return String(validating: units, as: UTF32.self)
    }
}
