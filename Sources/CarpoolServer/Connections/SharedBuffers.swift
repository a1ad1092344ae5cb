internal import CarpoolJSON

/// Buffers that all connections share, since the loop's thread uses them one after the other.
final class SharedBuffers {
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: SharedBuffers.inputBytes, alignment: 16)
    private var writer = JSONWriter()

    /// One read takes at most this much from a client.
    private static let inputBytes = 65_536
    /// The writer's buffer is kept between replies up to this size.
    private static let keptWriterBytes = 262_144

    deinit { input.deallocate() }

    /// Lends the buffer for one read.
    func withReadBuffer<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result { body(input) }

    /// Lends the one writer; a reply is written and framed before the next is begun.
    func withWriter(_ body: (inout JSONWriter) -> Void) {
        writer.removeAll()
        body(&writer)
        if writer.capacity > SharedBuffers.keptWriterBytes { writer = JSONWriter() }
    }

    /// Releases the writer's memory.
    func releaseWriter() { writer = JSONWriter() }
}
