/// Reads the heads that the daemon writes before a body: their length as eight hexadecimal digits and a line end, and
/// then their bytes.
struct CurlHeadReader {
    private var bytes: [UInt8] = []
    private static let prefixBytes = 9

    /// Adds bytes; returns the heads, and what follows them, once they are complete.
    mutating func read(_ more: [UInt8]) -> (heads: [UInt8], rest: [UInt8])? {
        bytes += more
        guard bytes.count >= CurlHeadReader.prefixBytes, let length = Int(bytes[..<8].text, radix: 16),
            bytes.count >= CurlHeadReader.prefixBytes + length
        else { return nil }
        let end = CurlHeadReader.prefixBytes + length
        return (Array(bytes[CurlHeadReader.prefixBytes..<end]), Array(bytes[end...]))
    }
}
