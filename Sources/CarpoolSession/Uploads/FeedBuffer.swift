/// Bytes on their way from whoever gives them to whoever reads them. What was read is kept while all of it fits, so that it can be read again.
struct FeedBuffer {
    private let capacity: Int
    private var bytes: [UInt8] = []
    /// How many of the bytes have been read.
    private var position = 0
    /// Whether the first byte of all is still there.
    private(set) var isWhole = true

    init(capacity: Int) { self.capacity = capacity }

    /// How many bytes have not been read.
    var unread: Int { bytes.count - position }
    /// How many more may come.
    var room: Int { max(0, capacity - unread) }

    /// A piece that is larger than the buffer is taken when the buffer is empty: else nobody ever could give it.
    func hasRoom(for count: Int) -> Bool { count <= room || unread == 0 }

    mutating func append(_ piece: ArraySlice<UInt8>) {
        if position > 0, bytes.count + piece.count > capacity {
            bytes.removeFirst(position)
            position = 0
            isWhole = false
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
