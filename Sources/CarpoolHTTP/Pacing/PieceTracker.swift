/// Tracks how libcurl passes a body: it reads a buffer, and passes it in pieces of at most 16 KiB.
struct PieceTracker {
    /// The largest piece that libcurl passes (CURL_MAX_WRITE_SIZE).
    private static let largestPiece = 16_384

    /// The address of the next piece if it is of the same buffer.
    private var next: UnsafeRawPointer?
    /// The bytes of the current buffer so far, and those of the one before.
    private var length = 0
    private var lastLength = 0

    /// Records a piece, and returns whether it is probably the last of its buffer: it is small, or the buffer is as
    /// long as the last one.
    mutating func isLast(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        if start != next {
            lastLength = length
            length = 0
        }
        length &+= bytes.count
        next = start + bytes.count
        return bytes.count < PieceTracker.largestPiece || length >= lastLength
    }
}
