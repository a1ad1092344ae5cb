internal import CarpoolHTTP

/// The body of a stored response on its way to a caller.
struct StoredBody {
    /// The entry; `nil` for a response without a body of its own.
    let entry: CacheEntry?
    /// The bytes to deliver.
    let range: Range<Int>
    /// The next byte to deliver.
    var position: Int
    /// Bytes that were read from a file, and the position of the first.
    var chunk: [UInt8] = []
    var chunkStart = 0
    /// Reads the file of the body; made when it is first needed.
    var reader: DiskBodyReader?
    /// Whether a piece of the file is being read, or the file gets another name.
    var isReading = false
    /// Whether the caller was asked whether it takes the file as it is.
    var wasOffered = false

    init(_ answer: CacheAnswer, of entries: [CacheEntry]) {
        entry = answer.index.map { entries[$0] }
        range = answer.range ?? 0..<(entry?.body.count ?? 0)
        position = range.lowerBound
    }

    /// The file of the body, if all of it is delivered: also of one whose bytes are in memory.
    var wholeFile: StoredBodyFile? {
        let file: StoredBodyFile? = if case .file(let file) = entry?.body { file } else { entry?.savedFile }
        guard let file, position == 0, range.count == file.length else { return nil }
        return file
    }

    /// Whether the bytes are in memory.
    var isInMemory: Bool { if case .memory = entry?.body { true } else { false } }

    var isAtEnd: Bool { position >= range.upperBound }

    /// Passes at most `limit` bytes at the position to the body; `nil` if they have to be read first.
    func read<Result>(atMost limit: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        let end = min(position &+ limit, range.upperBound)
        if case .memory(let bytes) = entry?.body, end <= bytes.count {
            return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[position..<end])) }
        }
        let start = position &- chunkStart
        guard start >= 0, start < chunk.count else { return nil }
        let last = min(end &- chunkStart, chunk.count)
        return chunk.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<last])) }
    }
}
