/// The result of one pass over the bytes of a URL: what has to be done before it is parsed.
struct URLScan {
    /// Whether it is not too long and has no control characters.
    var isClean = true
    var hasBlank = false
    var hasAt = false
    var hasUppercase = false
    /// A backslash, at which some parsers end the authority and others do not.
    var hasBackslash = false
    var isASCII = true
    var hasPercent = false
    /// Characters that must be percent-encoded outside the authority, or a percent sign that encodes nothing.
    var needsEncoding = false

    /// Whether the host may be a name beyond ASCII, which may be percent-encoded.
    var mayHaveNonASCIIHost: Bool { !isASCII || hasPercent }

    static let maximumBytes = 65_536

    /// Bytes that need no action: lower-case letters, digits and ``! $ & ' ( ) * + , - . / : ; = ? _ ~``. One bit for
    /// each byte of ASCII.
    private static let plain: (low: UInt64, high: UInt64) = (
        low: 0xAFFF_FFD2_0000_0000, high: 0x47FF_FFFE_8000_0000
    )

    init(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            isClean = bytes.count <= URLScan.maximumBytes
            for index in bytes.indices {
                let byte = bytes[index]
                let bit = UInt64(1) << (byte & 63)
                if byte < 0x80, (byte < 0x40 ? URLScan.plain.low : URLScan.plain.high) & bit != 0 { continue }
                note(byte, followedBy: UnsafeBufferPointer(rebasing: bytes[(index + 1)...]))
            }
        }
    }

    private mutating func note(_ byte: UInt8, followedBy rest: UnsafeBufferPointer<UInt8>) {
        switch byte {
        case 0x41...0x5A: hasUppercase = true
        case UInt8(ascii: "@"): hasAt = true
        case UInt8(ascii: "%"):
            hasPercent = true
            let digits = rest.prefix(2)
            if digits.count < 2 || !digits.allSatisfy(URLEncoder.isHexadecimal) { needsEncoding = true }
        case UInt8(ascii: "#"): if rest.contains(UInt8(ascii: "#")) { needsEncoding = true }
        default:
            needsEncoding = true
            if byte < 0x20 || byte == 0x7F { isClean = false }
            if byte == 0x20 { hasBlank = true }
            if byte == UInt8(ascii: "\\") { hasBackslash = true }
            if byte >= 0x80 { isASCII = false }
        }
    }
}
