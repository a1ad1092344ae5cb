/// A buffer between the client that sends a body and the transfer. Bytes that were read are kept while all of them
/// fit, so that they can be read again.
struct FeedBuffer {
    private let capacity: Int
    private var bytes: [UInt8] = []
    /// How many of the bytes have been read.
    private var position = 0
    /// Whether the first byte of the body is still in the buffer, so that it can be read again.
    private(set) var canRestart = true

    init(capacity: Int) { self.capacity = capacity }

    /// How many bytes have not been read.
    var unread: Int { bytes.count - position }
    /// How many more bytes fit.
    var room: Int { max(0, capacity - unread) }

    /// Whether a piece is accepted. One that is larger than the buffer is accepted when the buffer is empty, or it
    /// never would be.
    func hasRoom(for count: Int) -> Bool { count <= room || unread == 0 }

    mutating func append(_ piece: ArraySlice<UInt8>) {
        if position > 0, bytes.count + piece.count > capacity {
            bytes.removeFirst(position)
            position = 0
            canRestart = false
        }
        bytes.append(contentsOf: piece)
    }

    mutating func restart() { position = 0 }

    mutating func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(room.count, unread)
        guard count > 0 else { return 0 }
        bytes.withUnsafeBytes {
            room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position..<position + count]))
        }
        position += count
        return count
    }
}
