/// Reads a file of header fields for a part of a form: a line that begins with a space goes on with the line before it,
/// and one that begins with `#` is a comment.
enum CurlFormHeaders {
    /// curl cuts longer lines.
    private static let maximumLineBytes = 998

    /// The fields, without spaces at their ends.
    static func lines(_ bytes: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
            let text = line.filter { $0 != 13 }
            guard let first = text.first, first != UInt8(ascii: "#") else { continue }
            if first.isSpace, !lines.isEmpty {
                lines[lines.count - 1] += text
            } else {
                lines.append(text)
            }
        }
        return lines.compactMap { line in
            let end = line.prefix(maximumLineBytes).lastIndex { !$0.isSpace }
            return end.map { Array(line[...$0]) }
        }
    }
}
