internal import Glibc

/// Splits bytes into lines that end with LF or CRLF, across pieces. A line that is too long is skipped.
struct LineSplitter {
    /// The result at a line's end.
    enum Line: Equatable {
        /// A complete line, without its end.
        case whole([UInt8])
        /// The line exceeds the limit; its rest is skipped.
        case tooLong
    }

    /// The most bytes of a line.
    let limit: Int
    private var line: [UInt8] = []
    private var isSkipping = false
    /// Bytes that were taken since ``begin()``.
    private(set) var taken = 0

    init(limit: Int) { self.limit = limit }

    /// How many bytes of an unfinished line are buffered.
    var unfinishedBytes: Int { line.count }

    /// Starts counting the bytes of the next record.
    mutating func begin() { taken = 0 }

    /// Takes bytes up to the end of the first line.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> (taken: Int, line: Line?) {
        let end = LineSplitter.endOfLine(in: bytes)
        let count = end.map { $0 &+ 1 } ?? bytes.count
        taken &+= count
        if isSkipping {
            isSkipping = end == nil
            return (count, nil)
        }
        line.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<(end ?? bytes.count)]))
        if end != nil, line.last == UInt8(ascii: "\r") { line.removeLast() }
        // A line without an end yet may have a CR that belongs to the end.
        guard line.count > (end == nil ? limit &+ 1 : limit) else { return (count, end.map { _ in .whole(flush()) }) }
        line = []
        isSkipping = end == nil
        return (count, .tooLong)
    }

    private static func endOfLine(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let start = bytes.baseAddress, let end = memchr(start, 0x0A, bytes.count) else { return nil }
        return UnsafeRawPointer(end) - start
    }

    /// Ends the stream. Returns the line without an end, if there is one.
    mutating func finish() -> Line? {
        guard !line.isEmpty else { return nil }
        return line.count > limit ? .tooLong : .whole(flush())
    }

    private mutating func flush() -> [UInt8] {
        defer { line = [] }
        return line
    }
}
