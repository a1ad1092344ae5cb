/// Splits a stream of bytes into records, whatever the pieces: bytes in, records out.
protocol StreamFramer {
    /// Takes bytes up to the end of the first record, or of the first line that ends none, so that one call is short;
    /// takes no bytes only where there is no room.
    /// - Parameters:
    ///   - bytes: the next bytes of the stream, at least one.
    ///   - room: the most bytes of a piece, where pieces may be cut anywhere.
    mutating func take(_ bytes: UnsafeRawBufferPointer, room: Int) -> (taken: Int, record: StreamRecord?)
    /// How many of the last bytes that it took belong to an unfinished record: a reader in its place would need them
    /// again. Skipped bytes do not count.
    var unfinishedBytes: Int { get }
    /// Ends the stream. Returns the record that its end completes.
    mutating func finish() -> StreamRecord?
}

/// Returns bytes as they arrive.
struct BytesFramer: StreamFramer {
    /// The most bytes of a piece, so that its base64 fits the limit.
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
