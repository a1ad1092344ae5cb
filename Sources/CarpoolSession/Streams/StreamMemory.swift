/// What the buffers of all streams have in common: how much they hold together, and how much they may.
public final class StreamMemory {
    /// The most bytes that one stream holds for its readers before its origin waits.
    public var streamBytes: Int
    /// The most bytes that all of them hold; beyond that each new piece of a stream waits until those before it are taken.
    public var totalBytes: Int
    /// How many bytes they hold.
    public private(set) var heldBytes = 0

    /// What a stream may hold even if all of them hold too much: with less it would not move.
    private static let leastBytes = 16_384

    /// Makes room for so much.
    public init(streamBytes: Int = 1_048_576, totalBytes: Int = 67_108_864) {
        self.streamBytes = streamBytes
        self.totalBytes = totalBytes
    }

    /// The bytes at which a stream is not read from.
    var limit: Int { heldBytes < totalBytes ? streamBytes : min(streamBytes, StreamMemory.leastBytes) }

    /// Notes that a stream holds so many bytes more, or fewer.
    func change(by bytes: Int) { heldBytes &+= bytes }
}
