/// Bytes of a body that jobs of a worker have read and the network has not taken yet: two buffers, which are filled
/// in turn by jobs and emptied on the loop.
public struct ReadAheadBlocks {
    /// A buffer on its way from a job to the loop and back.
    ///
    /// `@unchecked Sendable` because either one job or the loop has it, never both.
    public final class Block: @unchecked Sendable {
        /// Where the bytes are put.
        public let room: UnsafeMutableRawBufferPointer
        /// How many bytes of the room were read.
        public var count = 0

        fileprivate init(bytes: Int) { room = .allocate(byteCount: bytes, alignment: 16) }
        deinit { room.deallocate() }
    }

    /// Filled buffers; of the first so much is taken.
    private var filled: [Block] = []
    private var taken = 0
    private var spare: Block?

    /// One is emptied while the other is filled.
    private static let maximum = 2

    /// Holds nothing, and no memory.
    public init() {}

    /// Whether there are no bytes.
    public var isEmpty: Bool { filled.isEmpty }

    /// Whether nothing more is to be read until some of it is taken.
    public var isFull: Bool { filled.count >= ReadAheadBlocks.maximum }

    /// An empty buffer for at least so many bytes, for a job.
    public mutating func empty(bytes: Int) -> Block {
        let block = spare.flatMap { $0.room.count >= bytes ? $0 : nil } ?? Block(bytes: bytes)
        spare = nil
        block.count = 0
        return block
    }

    /// Takes a buffer back from a job, with what it has read.
    public mutating func append(_ block: Block) {
        if block.count > 0 { filled.append(block) } else { spare = block }
    }

    /// Copies the next bytes into a buffer that is not empty.
    public mutating func take(into room: UnsafeMutableRawBufferPointer) -> Int? {
        guard let first = filled.first else { return nil }
        let count = min(room.count, first.count - taken)
        room.copyMemory(from: UnsafeRawBufferPointer(rebasing: first.room[taken..<taken + count]))
        taken += count
        if taken == first.count {
            spare = filled.removeFirst()
            taken = 0
        }
        return count
    }

    /// Frees the memory that holds no bytes: nothing more is read.
    public mutating func dropSpare() { spare = nil }

    /// Drops all bytes.
    public mutating func removeAll() { self = ReadAheadBlocks() }
}
