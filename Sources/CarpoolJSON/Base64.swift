/// Base64 with the standard alphabet and padding (RFC 4648 §4).
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The value of each character, 0xFF for characters that are not base64.
    private static let values: [UInt8] = {
        var table = [UInt8](repeating: 0xFF, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(truncatingIfNeeded: value) }
        return table
    }()

    /// The length of the encoded form of this many bytes.
    public static func encodedLength(of count: Int) -> Int { (count &+ 2) / 3 &* 4 }

    /// Appends the encoded form, without line breaks.
    public static func encode(_ bytes: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        let start = output.count
        output.append(contentsOf: repeatElement(UInt8(ascii: "="), count: encodedLength(of: bytes.count)))
        output.withUnsafeMutableBufferPointer { output in
            alphabet.withUnsafeBufferPointer { alphabet in
                var source = 0
                var target = start
                while source < bytes.count {
                    let left = bytes.count &- source
                    let second = left > 1 ? Int(bytes[source &+ 1]) : 0
                    let third = left > 2 ? Int(bytes[source &+ 2]) : 0
                    let group = Int(bytes[source]) << 16 | second << 8 | third
                    output[target] = alphabet[group >> 18]
                    output[target &+ 1] = alphabet[group >> 12 & 63]
                    if left > 1 { output[target &+ 2] = alphabet[group >> 6 & 63] }
                    if left > 2 { output[target &+ 3] = alphabet[group & 63] }
                    source &+= 3
                    target &+= 4
                }
            }
        }
    }

    /// The bytes that the text stands for.
    /// - Throws: `JSONError` with code `base64` for other characters (white space too), missing padding, or bits set
    ///   after the last byte: each value has exactly one text.
    public static func decode(_ text: UnsafeRawBufferPointer) throws(JSONError) -> [UInt8] {
        guard text.count % 4 == 0 else {
            throw JSONError(.base64, "\(text.count) characters are not a whole number of groups of four")
        }
        let padding = min(text.reversed().prefix { $0 == UInt8(ascii: "=") }.count, 2)
        let length = text.count &- padding
        var output: [UInt8] = []
        output.reserveCapacity(text.count / 4 &* 3)
        var group: UInt32 = 0
        for index in 0..<length {
            let value = values[Int(text[index])]
            guard value < 64 else { throw JSONError(.base64, "character \(index) is not base64") }
            group = group << 6 | UInt32(value)
            guard index % 4 == 3 else { continue }
            output.append(UInt8(truncatingIfNeeded: group >> 16))
            output.append(UInt8(truncatingIfNeeded: group >> 8))
            output.append(UInt8(truncatingIfNeeded: group))
            group = 0
        }
        try finish(group, padding: padding, into: &output)
        return output
    }

    private static func finish(_ group: UInt32, padding: Int, into output: inout [UInt8]) throws(JSONError) {
        let unused: UInt32 = padding == 1 ? 0b11 : padding == 2 ? 0b1111 : 0
        guard group & unused == 0 else { throw JSONError(.base64, "bits are set after the last byte") }
        if padding == 1 { output.append(UInt8(truncatingIfNeeded: group >> 10)) }
        if padding == 1 { output.append(UInt8(truncatingIfNeeded: group >> 2)) }
        if padding == 2 { output.append(UInt8(truncatingIfNeeded: group >> 4)) }
    }
}
