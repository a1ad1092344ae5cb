/// Finds records in a stream of bytes, however the network has cut it: bytes in, records out.
protocol StreamFramer {
    /// Takes bytes up to the end of the first record in them, or of the first line that ends none, so that one call is short; no bytes only
    /// where there is no room.
    /// - Parameters:
    ///   - bytes: what comes next in the stream, at least one.
    ///   - room: the most bytes that a piece is to have, where pieces may be cut anywhere.
    mutating func take(_ bytes: UnsafeRawBufferPointer, room: Int) -> (taken: Int, record: StreamRecord?)
    /// How many of the last bytes that it took are of a record that is not whole: whoever reads in its place would need them again. What is passed
    /// over is of no use to anybody, however much that is.
    var unfinishedBytes: Int { get }
    /// The stream is over. Gives what its end makes a record.
    mutating func finish() -> StreamRecord?
}

/// Gives bytes as they come.
struct BytesFramer: StreamFramer {
    /// The most bytes of a piece: its base64 is to fit the limit.
    private let pieceBytes: Int

    init(limit: Int) { pieceBytes = max(3, limit / 4 &* 3) }

    mutating func take(_ bytes: UnsafeRawBufferPointer, room: Int) -> (taken: Int, record: StreamRecord?) {
        let count = min(bytes.count, room, pieceBytes)
        guard count > 0 else { return (0, nil) }
        return (count, StreamRecord(.bytes(Array(bytes[..<count])), sizeBytes: count))
    }

    var unfinishedBytes: Int { 0 }

    mutating func finish() -> StreamRecord? { nil }
}
