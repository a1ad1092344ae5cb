/// The shared memory limit of the buffers of all streams.
public final class StreamMemory {
    /// The most bytes that one stream buffers for its readers before its origin waits.
    public var streamBytes: Int
    /// The most bytes that all streams buffer; beyond that each new piece of a stream waits until those before it are
    /// taken.
    public var totalBytes: Int
    /// How many bytes are buffered.
    public private(set) var bufferedBytes = 0

    /// The bytes that one stream may always buffer, even over the common limit: with less it would not advance.
    private static let minimumBytes = 16_384

    /// Makes an account with these limits.
    public init(streamBytes: Int = 1_048_576, totalBytes: Int = 67_108_864) {
        self.streamBytes = streamBytes
        self.totalBytes = totalBytes
    }

    /// The buffered bytes at which a stream stops reading.
    var limit: Int { bufferedBytes < totalBytes ? streamBytes : min(streamBytes, StreamMemory.minimumBytes) }

    /// Adds the change of a stream's buffered bytes.
    func change(by bytes: Int) { bufferedBytes &+= bytes }
}
