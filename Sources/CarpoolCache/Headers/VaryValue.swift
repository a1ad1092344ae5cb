/// Values of request fields as they are compared where `Vary` names them (HK-05).
enum VaryValue {
    /// The lines joined, without white space around commas. What is in quotation marks stays as it is.
    /// - Parameter ignoresCase: for values without case, such as languages.
    static func normalized(_ lines: [[UInt8]], ignoresCase: Bool = false) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(lines.reduce(0) { $0 + $1.count + 1 })
        for (index, line) in lines.enumerated() {
            if index > 0 { result.append(UInt8(ascii: ",")) }
            line.withUnsafeBytes { append($0, to: &result) }
        }
        return ignoresCase ? result.map(FieldBytes.lowered) : result
    }

    private static func append(_ line: UnsafeRawBufferPointer, to result: inout [UInt8]) {
        var blanks = 0
        var isAtStart = true
        var hasQuotes = true
        var position = 0
        while position < line.count {
            let byte = line[position]
            if FieldBytes.isBlank(byte) {
                // White space is kept inside a member only, which is known at the next byte.
                blanks += 1
                position += 1
                continue
            }
            if !isAtStart, byte != UInt8(ascii: ",") {
                result.append(contentsOf: line[(position - blanks)..<position])
            }
            blanks = 0
            isAtStart = byte == UInt8(ascii: ",")
            let end = hasQuotes && byte == UInt8(ascii: "\"") ? FieldBytes.endOfQuoted(line, from: position) : position
            hasQuotes = hasQuotes && end != nil
            let last = end ?? position
            result.append(contentsOf: line[position...last])
            position = last + 1
        }
    }

    /// The names that `Vary` lists, in lower case; `nil` for those that fit no other request: `*`, or more names or
    /// bytes than a response has a use for.
    static func names(in lines: [[UInt8]]) -> [String]? {
        guard lines.reduce(0, { $0 + $1.count }) <= FieldBytes.maximumListBytes else { return nil }
        var names: [String] = []
        var isUsable = true
        for line in lines where isUsable {
            line.withUnsafeBytes { bytes in
                _ = FieldBytes.forEachMember(of: bytes) { member in
                    let name = String(decoding: member.map(FieldBytes.lowered), as: UTF8.self)
                    if !names.contains(name) { names.append(name) }
                    isUsable = name != "*" && names.count <= maximumNames
                    return isUsable
                }
            }
        }
        return isUsable ? names : nil
    }

    private static let maximumNames = 64
}
