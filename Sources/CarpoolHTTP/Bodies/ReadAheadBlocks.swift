/// Bytes of a body that jobs of a worker have read and the network has not taken yet: two buffers, which are filled
/// in turn by jobs and emptied on the loop.
public struct ReadAheadBlocks {
    /// A buffer on its way from a job to the loop and back.
    ///
    /// `@unchecked Sendable` because either one job or the loop has it, never both.
    public final class Block: @unchecked Sendable {
        /// The memory for the bytes.
        public let buffer: UnsafeMutableRawBufferPointer
        /// The number of bytes that were read into it.
        public var count = 0

        fileprivate init(bytes: Int) { buffer = .allocate(byteCount: bytes, alignment: 16) }
        deinit { buffer.deallocate() }
    }

    /// Filled buffers. The first `taken` bytes of the first one were copied out.
    private var filled: [Block] = []
    private var taken = 0
    private var spare: Block?

    /// Maximum number of filled buffers: one is emptied while the other is filled.
    private static let maximum = 2

    /// Creates it without buffers, which are allocated when they are needed.
    public init() {}

    /// Whether there are no bytes.
    public var isEmpty: Bool { filled.isEmpty }

    /// Whether no more may be read until bytes are taken.
    public var isFull: Bool { filled.count >= ReadAheadBlocks.maximum }

    /// Returns an empty buffer of at least this size for a job.
    public mutating func empty(bytes: Int) -> Block {
        let block = spare.flatMap { $0.buffer.count >= bytes ? $0 : nil } ?? Block(bytes: bytes)
        spare = nil
        block.count = 0
        return block
    }

    /// Adds the buffer of a job that has ended, with the bytes that it has read.
    public mutating func append(_ block: Block) {
        if block.count > 0 { filled.append(block) } else { spare = block }
    }

    /// Copies the next bytes into a buffer that is not empty.
    public mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard let first = filled.first else { return nil }
        let count = min(buffer.count, first.count - taken)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: first.buffer[taken..<taken + count]))
        taken += count
        if taken == first.count {
            spare = filled.removeFirst()
            taken = 0
        }
        return count
    }

    /// Frees the empty buffer, once nothing more is read.
    public mutating func dropSpare() { spare = nil }

    /// Drops all bytes.
    public mutating func removeAll() { self = ReadAheadBlocks() }
}
