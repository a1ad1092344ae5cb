internal import CarpoolJSON

/// The transfer encodings of a part (`;encoder=`).
enum CurlFormEncoding {
    /// The longest encoded line.
    private static let lineBytes = 76

    /// Encodes the content of a part.
    static func encode(_ bytes: [UInt8], _ encoder: CurlFormPart.Encoder) throws(CurlError) -> [UInt8] {
        switch encoder {
        case .binary, .eightBit: return bytes
        case .sevenBit:
            guard bytes.allSatisfy({ $0 < 128 }) else {
                throw CurlError(exitCode: CurlExitCode.readError, message: "read error getting mime data")
            }
            return bytes
        case .base64: return base64(bytes)
        case .quotedPrintable: return quotedPrintable(bytes)
        }
    }

    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
        var encoded: [UInt8] = []
        bytes.withUnsafeBytes { Base64.encode($0, into: &encoded) }
        var result: [UInt8] = []
        result.reserveCapacity(encoded.count + encoded.count / lineBytes * 2)
        for start in stride(from: 0, to: encoded.count, by: lineBytes) {
            if start > 0 { result += [13, 10] }
            result += encoded[start..<min(start + lineBytes, encoded.count)]
        }
        return result
    }

    /// Quoted-printable (RFC 2045, 6.7): CR LF is a line end, and lines are at most 76 bytes long.
    private static func quotedPrintable(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var column = 0
        var index = 0
        while index < bytes.count {
            if isLineEnd(bytes, index) {
                result += [13, 10]
                column = 0
                index += 2
                continue
            }
            let piece = quoted(bytes, index)
            let end = column + piece.count
            if end > lineBytes || end == lineBytes && !isEnd(bytes, index + 1) {
                result += Array("=\r\n".utf8)
                column = 0
                continue
            }
            result += piece
            column = end
            index += 1
        }
        return result
    }

    /// A byte as it is written; a blank before a line end is escaped.
    private static func quoted(_ bytes: [UInt8], _ index: Int) -> [UInt8] {
        let byte = bytes[index]
        let isPlain =
            byte.isBlank ? !isEnd(bytes, index + 1) : (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "=")
        return isPlain ? [byte] : [UInt8(ascii: "=")] + byte.hexadecimal
    }

    private static func isLineEnd(_ bytes: [UInt8], _ index: Int) -> Bool {
        index + 1 < bytes.count && bytes[index] == 13 && bytes[index + 1] == 10
    }

    private static func isEnd(_ bytes: [UInt8], _ index: Int) -> Bool {
        index >= bytes.count || isLineEnd(bytes, index)
    }
}
