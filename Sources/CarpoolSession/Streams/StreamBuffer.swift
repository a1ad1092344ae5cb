/// The bytes of a stream that some reader has not received, in the pieces in which they arrived. A value that knows
/// nothing of readers.
struct StreamBuffer {
    private struct Piece {
        let start: Int64
        let attempt: Int
        var bytes: [UInt8]

        var end: Int64 { start &+ Int64(bytes.count) }
    }

    private var pieces: [Piece] = []
    /// How many of the first pieces were dropped.
    private var droppedPieces = 0
    /// The offset of the first byte that is kept.
    private(set) var start: Int64 = 0
    /// The offset of the next byte, counted over all attempts.
    private(set) var end: Int64 = 0

    /// Small pieces are joined up to this size, so that a slow reader gets few large ones.
    private static let joinedBytes = 32_768

    /// How many bytes are kept.
    var count: Int { Int(clamping: end &- start) }

    /// Adds a piece of an attempt's body.
    mutating func append(_ bytes: UnsafeRawBufferPointer, attempt: Int) {
        defer { end &+= Int64(bytes.count) }
        let last = pieces.count &- 1
        if last >= droppedPieces, pieces[last].attempt == attempt,
            pieces[last].bytes.count &+ bytes.count <= StreamBuffer.joinedBytes
        {
            return pieces[last].bytes.append(contentsOf: bytes)
        }
        pieces.append(Piece(start: end, attempt: attempt, bytes: Array(bytes)))
    }

    /// Drops the bytes before an offset.
    mutating func drop(before offset: Int64) {
        start = max(start, offset)
        while droppedPieces < pieces.count, pieces[droppedPieces].end <= offset {
            pieces[droppedPieces].bytes = []
            droppedPieces += 1
        }
        // Compacted rarely: each time costs as much as there are pieces.
        guard droppedPieces == pieces.count || droppedPieces > 64 else { return }
        pieces.removeFirst(droppedPieces)
        droppedPieces = 0
    }

    /// Passes the bytes from an offset to the end of their piece, and the attempt they belong to, to the body; `nil` if
    /// there are none.
    func withPiece<Result>(
        at offset: Int64, _ body: (_ bytes: UnsafeRawBufferPointer, _ attempt: Int) -> Result
    ) -> Result? {
        guard offset < end, droppedPieces < pieces.count else { return nil }
        // Usually it is the first; a reader ahead of others finds its own in a few steps.
        var (low, high) = (droppedPieces, pieces.count &- 1)
        while low < high, pieces[low].end <= offset {
            let middle = (low &+ high) / 2
            if pieces[middle].end <= offset { low = middle &+ 1 } else { high = middle }
        }
        let piece = pieces[low]
        let first = Int(clamping: max(0, offset &- piece.start))
        return piece.bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[first...]), piece.attempt) }
    }
}
