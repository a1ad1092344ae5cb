/// Makes a ``ResponseHead`` of the lines that libcurl hands over: the blocks of interim responses, the final head,
/// and trailers all come the same way. Lines in, events out.
struct HeadReader {
    enum Event {
        /// The head is not complete yet.
        case none
        /// The head of the final response is complete.
        case head(ResponseHead)
        /// The lines have more than ``HeadReader/maximumBytes``.
        case tooLong
        /// There are more lines than ``HeadReader/maximumLines``.
        case tooMany
        /// `Transfer-Encoding` is folded: libcurl would read its first line alone (RFC 9112, section 5.2).
        case folded
    }

    /// Maximum number of bytes in all heads of a transfer: a little less than libcurl's own limit, whose error names no
    /// limit.
    static let maximumBytes = 300_000
    /// Maximum number of bytes of the heads that one call of libcurl passes on, which is one step of the loop: over
    /// HTTP/2 a few kilobytes can stand for a head of the maximum size for each stream of a connection (RFC 7541). What
    /// is not sent for that stays far below it: the table whose entries are repeated has 4 KiB.
    static let maximumBytesOfCall = 1 << 20
    /// Maximum number of lines in all heads of a transfer; those of a folded field count as well. Each costs a
    /// microsecond, however short it is, and one call of libcurl reads the heads of a hundred streams.
    static let maximumLines = 256

    /// The status of the last block that began; 0 before the first.
    private(set) var status = 0
    /// `http/1.0`, `http/1.1` or `h2`; empty before the first line.
    private(set) var version = ""
    private var fields = FieldBlock()
    /// Bytes of all lines so far.
    private(set) var byteCount = 0
    private var lineCount = 0
    /// Whether the last field was `Transfer-Encoding`.
    private var isFraming = false
    /// Whether the final head was returned; the lines after it are trailers.
    private(set) var isComplete = false

    /// Reads one line, its end included.
    mutating func read(_ line: UnsafeRawBufferPointer) -> Event {
        byteCount &+= line.count
        lineCount += 1
        guard byteCount <= HeadReader.maximumBytes else { return .tooLong }
        guard lineCount <= HeadReader.maximumLines else { return .tooMany }
        guard !isComplete else { return .none }
        let text = HeadReader.withoutEnd(line)
        if text.isEmpty { return endOfBlock() }
        if HeadReader.isStatusLine(text) {
            begin(text)
        } else if text[0] == 0x20 || text[0] == 0x09 {
            if isFraming { return .folded }
            fields.continueLast(with: text)
        } else {
            isFraming = HeadReader.isTransferEncoding(text)
            // A line without a name is ignored, as most HTTP implementations do.
            _ = fields.append(line: text)
        }
        return .none
    }

    private mutating func begin(_ line: UnsafeRawBufferPointer) {
        fields = FieldBlock(expectedBytes: 512)
        version = HeadReader.version(of: line)
        status = 0
        guard let blank = line.firstIndex(where: { $0 == 0x20 || $0 == 0x09 }) else { return }
        for byte in line[(blank + 1)...].prefix(3) {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return }
            status = status * 10 + Int(byte - UInt8(ascii: "0"))
        }
    }

    private mutating func endOfBlock() -> Event {
        guard status >= 200 else { return .none }
        isComplete = true
        let head = ResponseHead(status: status, httpVersion: version, fields: fields)
        fields = FieldBlock()
        return .head(head)
    }

    private static let transferEncoding = Array("transfer-encoding:".utf8)

    private static func isTransferEncoding(_ line: UnsafeRawBufferPointer) -> Bool {
        // `t` and `T`: most other fields are known by their first byte.
        guard line[0] | 0x20 == transferEncoding[0], line.count >= transferEncoding.count else { return false }
        return transferEncoding.indices.allSatisfy {
            line[$0] == transferEncoding[$0] || line[$0] | 0x20 == transferEncoding[$0]
        }
    }

    /// Whether a line begins a head.
    static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        line.count >= 5 && line[0] == UInt8(ascii: "H") && line[1] == UInt8(ascii: "T")
            && line[2] == UInt8(ascii: "T") && line[3] == UInt8(ascii: "P") && line[4] == UInt8(ascii: "/")
    }

    private static func version(of line: UnsafeRawBufferPointer) -> String {
        if line.count > 5, line[5] == UInt8(ascii: "2") { return "h2" }
        if line.count > 7, line[7] == UInt8(ascii: "0") { return "http/1.0" }
        return "http/1.1"
    }

    private static func withoutEnd(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var end = line.count
        if end > 0, line[end - 1] == 0x0A { end -= 1 }
        if end > 0, line[end - 1] == 0x0D { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: line[..<end])
    }
}
