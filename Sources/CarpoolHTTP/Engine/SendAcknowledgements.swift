/// Tracks whether a peer takes the bytes of a body that were written to its connection: libcurl and the kernel hold
/// hundreds of kilobytes of them.
struct SendAcknowledgements {
    /// Whether the peer has not acknowledged everything yet.
    private(set) var isAwaited = false
    private var acknowledged: UInt64 = 0
    /// Where the bytes of the body end among those of the connection at the latest; other transfers may use it too.
    private var end: UInt64 = 0
    private var hasMore = false
    private var bytes: UInt64 = 0

    /// The interval between two looks, in milliseconds.
    static let milliseconds = 50

    /// A piece of the body is about to be written.
    /// - Parameter bytes: how many bytes after those that are written now may be of the body.
    mutating func await(_ connection: OriginConnection, atMost bytes: UInt64) {
        hasMore = true
        self.bytes = bytes
        guard !isAwaited, let now = connection.bytesAcknowledged else { return }
        acknowledged = now
        isAwaited = true
    }

    /// Whether the peer has acknowledged bytes of the body since this was last asked.
    mutating func hasProgressed(on connection: OriginConnection) -> Bool {
        guard let now = connection.bytesAcknowledged, let left = connection.bytesOutstanding else {
            isAwaited = false
            return false
        }
        if hasMore {
            let sum = now.addingReportingOverflow(left)
            end = sum.partialValue.addingReportingOverflow(bytes).overflow ? .max : sum.partialValue &+ bytes
            hasMore = false
        }
        defer { acknowledged = now }
        // What follows is written as soon as there is room.
        isAwaited = left > 0
        return now > acknowledged && acknowledged < end
    }
}
