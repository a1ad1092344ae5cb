/// The treatment of characters that a URL must not contain (RFC 3986).
public enum URLEncoding: String, Sendable {
    /// They are percent-encoded, as Foundation does it: bytes beyond ASCII, blanks, ``[ ] { } | \ ^ ` " < >`` and
    /// percent signs that encode nothing.
    case percent
    /// They are sent as they were given, as curl does it. A blank is refused.
    case asIs = "as_is"
    /// The same, and the segments `.` and `..` of the path stay.
    case exact

    /// Whether characters are sent as they were given.
    var isVerbatim: Bool { self != .percent }
}

/// Percent-encodes a URL, or a reference, part by part.
struct URLEncoder {
    private let bytes: [UInt8]
    private var encoded: [UInt8] = []

    /// Percent-encodes every byte of the text that is not allowed at its position. Existing encodings are kept.
    ///
    /// Scheme and authority are not changed: a host is not percent-encoded, and libcurl's parser refuses an invalid
    /// one.
    static func encode(_ text: String, isReference: Bool) -> String {
        var encoder = URLEncoder(bytes: Array(text.utf8))
        encoder.encoded.reserveCapacity(encoder.bytes.count + 32)
        let start = URLEncoder.authorityEnd(of: encoder.bytes, isReference: isReference)
        encoder.encoded += encoder.bytes[..<start]
        encoder.encodeParts(from: start)
        return String(decoding: encoder.encoded, as: UTF8.self)
    }

    /// The bytes as text, with those beyond ASCII percent-encoded.
    static func encodeBeyondASCII(_ bytes: some Sequence<UInt8>) -> String {
        var encoder = URLEncoder(bytes: [])
        for byte in bytes {
            if byte < 0x80 { encoder.encoded.append(byte) } else { encoder.append(encoded: byte) }
        }
        return String(decoding: encoder.encoded, as: UTF8.self)
    }

    /// The authority of a URL or a reference, as its bytes; empty if it has none.
    static func authority(of text: String, isReference: Bool) -> ArraySlice<UInt8> {
        let bytes = Array(text.utf8)
        return bytes[
            authorityStart(of: bytes, isReference: isReference)..<authorityEnd(of: bytes, isReference: isReference)]
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func encodeParts(from start: Int) {
        var isFragment = false
        for index in start..<bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "#") where !isFragment:
                isFragment = true
                encoded.append(byte)
            case UInt8(ascii: "%") where isHexadecimal(index + 1) && isHexadecimal(index + 2): encoded.append(byte)
            case _ where URLEncoder.isAllowed(byte): encoded.append(byte)
            default: append(encoded: byte)
            }
        }
    }

    private mutating func append(encoded byte: UInt8) {
        encoded.append(UInt8(ascii: "%"))
        encoded.append(URLEncoder.digits[Int(byte >> 4)])
        encoded.append(URLEncoder.digits[Int(byte & 15)])
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private func isHexadecimal(_ index: Int) -> Bool { index < bytes.count && URLEncoder.isHexadecimal(bytes[index]) }

    static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }

    /// Whether the byte is unreserved in every part of a URL (RFC 3986, section 2.3).
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    /// Whether a path, a query or a fragment may hold the byte: `pchar`, `/` and `?` (RFC 3986, section 3.4). A `?`
    /// in a path ends it.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        // ! $ & ' ( ) * + , - . / : ; = ? @ _ ~
        case 0x21, 0x24, 0x26...0x2F, 0x3A, 0x3B, 0x3D, 0x3F, 0x40, 0x5F, 0x7E: true
        default: false
        }
    }

    // MARK: The authority

    private static func authorityStart(of bytes: [UInt8], isReference: Bool) -> Int {
        let isSchemeByte = { (byte: UInt8) in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == 0x2B || byte == 0x2D
                || byte == 0x2E
        }
        let colon = bytes.firstIndex { !isSchemeByte($0) }
        let isSlash = { (byte: UInt8) in byte == UInt8(ascii: "/") }
        // A scheme begins with a letter (RFC 3986, section 3.1); text before another colon is part of a path.
        if let colon, colon > 0, (0x61...0x7A).contains(bytes[0] | 0x20), bytes[colon] == UInt8(ascii: ":") {
            return bytes[(colon + 1)...].firstIndex { !isSlash($0) } ?? bytes.count
        }
        guard isReference else { return bytes.count }
        return bytes.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) ? 2 : 0
    }

    private static func authorityEnd(of bytes: [UInt8], isReference: Bool) -> Int {
        let start = authorityStart(of: bytes, isReference: isReference)
        // A reference to a path has none.
        if start == 0 { return 0 }
        return bytes[start...].firstIndex {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
        }
            ?? bytes.count
    }
}
