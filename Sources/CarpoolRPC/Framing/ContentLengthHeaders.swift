/// Reads the header block before a message: lines of `Name: value`, then an empty one. Other headers than
/// `Content-Length` are ignored.
struct ContentLengthHeaders {
    /// The result of reading a block.
    enum Outcome {
        /// The length of the message that follows, in bytes.
        case length(Int)
        /// The block is invalid: the reason, and whether the invalid line was read to its end.
        case broken(String, isAtLineEnd: Bool)
    }

    private var line: [UInt8] = []
    private var length: Int?
    private var bytes = 0

    /// Continues to read; `position` is set to the byte after the last one that was used.
    /// - Returns: nil if the block is incomplete.
    mutating func read(_ input: ArraySlice<UInt8>, limit: Int, position: inout Int) -> Outcome? {
        for byte in input {
            position &+= 1
            bytes &+= 1
            guard byte == UInt8(ascii: "\n") else {
                guard bytes <= limit else {
                    return .broken("the headers have more than \(limit) bytes", isAtLineEnd: false)
                }
                line.append(byte)
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            guard !line.isEmpty else {
                return length.map(Outcome.length) ?? .broken("the headers have no Content-Length", isAtLineEnd: true)
            }
            if let reason = readLine() { return .broken(reason, isAtLineEnd: true) }
            line.removeAll(keepingCapacity: true)
        }
        return nil
    }

    /// - Returns: The fault of the line, if it has one.
    private mutating func readLine() -> String? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return "a header line has no colon" }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        guard name == "content-length" else { return nil }
        guard length == nil else { return "there is more than one Content-Length header" }
        let blanks: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        let digits = line[(colon &+ 1)...].drop { blanks.contains($0) }.reversed().drop { blanks.contains($0) }
            .reversed()
        // 18 digits fit 64 bits.
        let isNumber = (1...18).contains(digits.count) && digits.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
        guard isNumber else { return "Content-Length is not a number of 1 to 18 digits" }
        length = digits.reduce(0) { $0 &* 10 &+ Int($1 &- UInt8(ascii: "0")) }
        return nil
    }
}
