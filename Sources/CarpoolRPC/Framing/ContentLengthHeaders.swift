/// Reads the header block before a message: lines of `Name: value`, then an empty one. Only `Content-Length` counts.
struct ContentLengthHeaders {
    /// The result of reading a block.
    enum Outcome {
        /// So many bytes follow.
        case length(Int)
        /// No block; says why, and whether the line that is wrong has been read to its end.
        case broken(String, isAtLineEnd: Bool)
    }

    private var line: [UInt8] = []
    private var length: Int?
    private var bytes = 0

    /// Continues to read; `position` is then after the last byte that was used.
    /// - Returns: nil if the block is incomplete.
    mutating func read(_ input: ArraySlice<UInt8>, limit: Int, position: inout Int) -> Outcome? {
        for byte in input {
            position &+= 1
            bytes &+= 1
            guard byte == UInt8(ascii: "\n") else {
                guard bytes <= limit else { return .broken("more than \(limit) bytes of headers", isAtLineEnd: false) }
                line.append(byte)
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            guard !line.isEmpty else {
                return length.map(Outcome.length) ?? .broken("no Content-Length among the headers", isAtLineEnd: true)
            }
            if let reason = readLine() { return .broken(reason, isAtLineEnd: true) }
            line.removeAll(keepingCapacity: true)
        }
        return nil
    }

    /// - Returns: The fault of the line, if it has one.
    private mutating func readLine() -> String? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return "a header without a colon" }
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        guard name == "content-length" else { return nil }
        guard length == nil else { return "Content-Length twice" }
        let blanks: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        let digits = line[(colon &+ 1)...].drop { blanks.contains($0) }.reversed().drop { blanks.contains($0) }
            .reversed()
        // 18 digits fit 64 bits.
        let isNumber = (1...18).contains(digits.count) && digits.allSatisfy { $0 &- UInt8(ascii: "0") < 10 }
        guard isNumber else { return "Content-Length is no number" }
        length = digits.reduce(0) { $0 &* 10 &+ Int($1 &- UInt8(ascii: "0")) }
        return nil
    }
}
