internal import CarpoolSystem

/// What a client has not taken yet: bytes in order, sent as the socket takes them.
struct OutputQueue {
    private var bytes: [UInt8] = []
    private var sent = 0

    /// How many bytes wait.
    var count: Int { bytes.count - sent }
    var isEmpty: Bool { count == 0 }

    /// Room kept for the next answers when the queue is empty; a larger buffer is given back.
    private static let keptCapacity = 65_536

    /// Lets the caller append; the body must only append.
    mutating func append<Failure: Error>(_ body: (inout [UInt8]) throws(Failure) -> Void) throws(Failure) {
        if sent > 0, sent == bytes.count { reset() }
        try body(&bytes)
    }

    /// Sends until nothing is left or the socket is full.
    mutating func flush(to fd: Int32) -> IOResult {
        while sent < bytes.count {
            let result = bytes.withUnsafeBytes { Bytes.send(fd, UnsafeRawBufferPointer(rebasing: $0[sent...])) }
            guard case .bytes(let count) = result else {
                compact()
                return result
            }
            sent += count
        }
        reset()
        return .bytes(0)
    }

    private mutating func reset() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= OutputQueue.keptCapacity)
        sent = 0
    }

    /// Drops what is sent once it is half of the buffer, so that a slow reader costs what it has not read, and no more.
    private mutating func compact() {
        guard sent > bytes.count / 2 else { return }
        bytes.removeFirst(sent)
        sent = 0
    }
}
