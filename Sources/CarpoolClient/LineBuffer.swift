internal import CarpoolSystem
internal import Glibc

/// Bytes from the daemon, cut into lines. It knows its maximum and does no reading of its own.
struct LineBuffer {
    /// What is in the buffer.
    enum Event: Equatable {
        /// A line without its line feed.
        case line(ArraySlice<UInt8>)
        /// No whole line yet.
        case needsBytes
        /// A line that is longer than any answer may be.
        case tooLong
    }

    /// The longest line: only `rpc.discover` and batches exceed the 64 KiB of an ordinary answer, and none comes near this.
    static let maximumBytes = 64 * 1024 * 1024
    /// The room for the first read: most answers fit.
    private static let firstBytes = 16 * 1024

    private let limit: Int
    private var bytes: [UInt8] = []
    private var start = 0
    private var end = 0
    /// Up to here there is no line feed, so that a long line is searched once.
    private var searched = 0

    /// Whether nothing was ever read.
    private(set) var isUntouched = true

    /// An empty buffer; tests choose a smaller limit.
    init(limit: Int = maximumBytes) { self.limit = limit }

    /// The memory that it has, in bytes.
    var capacityBytes: Int { bytes.count }

    /// Lets the closure write behind what is there.
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
            // A stream of lines hardly ever ends with one: what was taken out makes room for what comes.
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

    /// Where the first line feed is that was not looked at yet.
    private func feedOffset() -> Int? {
        bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress, searched < end,
                let found = memchr(base + searched, Int32(UInt8(ascii: "\n")), end - searched)
            else { return nil }
            return base.distance(to: UnsafeRawPointer(found))
        }
    }

    /// Takes the next line out.
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
