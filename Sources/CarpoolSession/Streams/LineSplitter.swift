internal import Glibc

/// Cuts bytes into lines that end with LF or CRLF, however the network has cut them. A line that is too long is passed over.
struct LineSplitter {
    /// What a line's end has made whole.
    enum Line: Equatable {
        /// The line, without its end.
        case whole([UInt8])
        /// It has more bytes than the limit; its rest is passed over.
        case tooLong
    }

    /// The most bytes of a line.
    let limit: Int
    private var line: [UInt8] = []
    private var isSkipping = false
    /// Bytes that were taken since ``begin()``.
    private(set) var taken = 0

    init(limit: Int) { self.limit = limit }

    /// How many bytes of a line are there whose end has not come.
    var unfinishedBytes: Int { line.count }

    /// The bytes of the next record are counted from here.
    mutating func begin() { taken = 0 }

    /// Takes bytes up to the end of the first line in them.
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
        // What has no end yet may have a CR that is of the end.
        guard line.count > (end == nil ? limit &+ 1 : limit) else { return (count, end.map { _ in .whole(flush()) }) }
        line = []
        isSkipping = end == nil
        return (count, .tooLong)
    }

    private static func endOfLine(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let start = bytes.baseAddress, let end = memchr(start, 0x0A, bytes.count) else { return nil }
        return UnsafeRawPointer(end) - start
    }

    /// The stream is over. Gives the line that has no end.
    mutating func finish() -> Line? {
        guard !line.isEmpty else { return nil }
        return line.count > limit ? .tooLong : .whole(flush())
    }

    private mutating func flush() -> [UInt8] {
        defer { line = [] }
        return line
    }
}
