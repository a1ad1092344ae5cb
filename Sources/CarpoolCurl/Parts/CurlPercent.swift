/// Percent encoding as curl does it.
enum CurlPercent {
    /// Encodes all bytes but letters, digits, `-`, `.`, `_` and `~` (curl_easy_escape).
    static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] { encode(bytes, spacesArePlus: false) }

    /// Encodes for a form: a space becomes `+`.
    static func encodeForm(_ bytes: some Collection<UInt8>) -> [UInt8] { encode(bytes, spacesArePlus: true) }

    private static func encode(_ bytes: some Collection<UInt8>, spacesArePlus: Bool) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            if isUnreserved[Int(byte)] {
                result.append(byte)
            } else if spacesArePlus, byte == UInt8(ascii: " ") {
                result.append(UInt8(ascii: "+"))
            } else {
                result.append(UInt8(ascii: "%"))
                result += byte.hexadecimal
            }
        }
        return result
    }

    /// Decodes `%XX`; a percent sign without two digits stays.
    static func decode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var index = bytes.startIndex
        while index != bytes.endIndex {
            let byte = bytes[index]
            bytes.formIndex(after: &index)
            if byte == UInt8(ascii: "%"), let high = index != bytes.endIndex ? bytes[index].hexadecimalValue : nil {
                let second = bytes.index(after: index)
                if second != bytes.endIndex, let low = bytes[second].hexadecimalValue {
                    result.append(high << 4 | low)
                    index = bytes.index(after: second)
                    continue
                }
            }
            result.append(byte)
        }
        return result
    }

    /// Whether a byte stays as it is, for each byte.
    private static let isUnreserved = (0...255).map { (byte: UInt8) in
        byte.isLetter || byte.isDigit || [0x2D, 0x2E, 0x5F, 0x7E].contains(byte)
    }
}
