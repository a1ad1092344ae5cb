internal import CarpoolSystem
internal import Glibc

/// Splits received bytes into lines of limited length. Does no I/O.
struct LineBuffer {
    /// The content of the buffer.
    enum Event: Equatable {
        /// A line without its line feed.
        case line(ArraySlice<UInt8>)
        /// The line is incomplete.
        case needsBytes
        /// The line exceeds the maximum.
        case tooLong
    }

    /// The default maximum of a line. Ordinary answers have at most 64 KiB, `rpc.discover` and batches more.
    static let maximumBytes = 64 * 1024 * 1024
    /// The initial capacity: most answers fit.
    private static let firstBytes = 16 * 1024

    private let limit: Int
    private var bytes: [UInt8] = []
    private var start = 0
    private var end = 0
    /// The position up to which there is no line feed, so that a long line is searched once.
    private var searched = 0

    /// Whether nothing was read yet.
    private(set) var isUntouched = true

    /// An empty buffer; tests choose a smaller limit.
    init(limit: Int = maximumBytes) { self.limit = limit }

    /// The capacity in bytes.
    var capacityBytes: Int { bytes.count }

    /// Calls the closure with the free space after the buffered bytes.
    mutating func fill(_ read: (UnsafeMutableRawBufferPointer) -> IOResult) -> IOResult {
        makeRoom()
        let room = end
        let result = bytes.withUnsafeMutableBytes { read(UnsafeMutableRawBufferPointer(rebasing: $0[room...])) }
        if case .bytes(let count) = result {
            end &+= count
            isUntouched = false
        }
        return result
    }

    private mutating func makeRoom() {
        if start == end {
            (start, end, searched) = (0, 0, 0)
        }
        guard end == bytes.count else { return }
        if start > 0 {
            // A read rarely ends with a line, so the space of returned lines is reused.
            let rest = start..<end
            bytes.withUnsafeMutableBytes { buffer in
                if let base = buffer.baseAddress { memmove(base, base + rest.lowerBound, rest.count) }
            }
            (start, end, searched) = (0, end &- start, searched &- start)
            if end <= bytes.count / 2 { return }
        }
        let count = bytes.isEmpty ? LineBuffer.firstBytes : bytes.count
        bytes.append(contentsOf: repeatElement(0, count: count))
    }

    /// The offset of the next line feed.
    private func feedOffset() -> Int? {
        bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress, searched < end,
                let found = memchr(base + searched, Int32(UInt8(ascii: "\n")), end - searched)
            else { return nil }
            return base.distance(to: UnsafeRawPointer(found))
        }
    }

    /// Removes and returns the next line.
    mutating func next() -> Event {
        guard let feed = feedOffset() else {
            searched = end
            return end &- start > limit ? .tooLong : .needsBytes
        }
        defer {
            start = feed &+ 1
            searched = start
        }
        return .line(bytes[start..<feed])
    }
}
