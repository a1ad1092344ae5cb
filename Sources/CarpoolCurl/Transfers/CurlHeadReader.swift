/// Reads the heads that the daemon writes before a body: their length as eight hexadecimal digits and a line end, and
/// then their bytes; before them the answers of a proxy to CONNECT, if these are expected.
struct CurlHeadReader {
    /// The answers of a proxy to CONNECT.
    struct Connect {
        let bytes: [UInt8]
        /// The daemon's number of the connection.
        let connection: Int
    }

    /// Whether answers to CONNECT come first.
    var expectsConnect = false
    private(set) var connect: Connect?
    private var bytes: [UInt8] = []
    private static let lengthDigits = 8
    private static let connectionDigits = 16

    init(expectsConnect: Bool = false) { self.expectsConnect = expectsConnect }

    /// Adds bytes; returns the heads, and what follows them, once they are complete.
    mutating func read(_ more: [UInt8]) -> (heads: [UInt8], rest: [UInt8])? {
        bytes += more
        if expectsConnect, connect == nil {
            let start = CurlHeadReader.lengthDigits + 1 + CurlHeadReader.connectionDigits + 1
            guard let connectBytes = take(from: start) else { return nil }
            let digits = bytes[(CurlHeadReader.lengthDigits + 1)..<(start - 1)]
            connect = Connect(bytes: connectBytes, connection: Int(digits.text, radix: 16) ?? 0)
            bytes.removeFirst(start + connectBytes.count)
        }
        let start = CurlHeadReader.lengthDigits + 1
        guard let heads = take(from: start) else { return nil }
        return (heads, Array(bytes[(start + heads.count)...]))
    }

    /// The bytes behind a line that begins with their number; `nil` if they are not there yet.
    private func take(from start: Int) -> [UInt8]? {
        guard bytes.count >= start, let length = Int(bytes[..<CurlHeadReader.lengthDigits].text, radix: 16),
            bytes.count >= start + length
        else { return nil }
        return Array(bytes[start..<(start + length)])
    }
}
