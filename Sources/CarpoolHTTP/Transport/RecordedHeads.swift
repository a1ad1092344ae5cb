/// The heads of the responses to a request, as they were received: those of interim responses and challenges too.
public final class RecordedHeads {
    /// The lines up to the end of the last head; none after ``releaseHeads()``.
    public private(set) var bytes: [UInt8] = []
    /// The lines after the body.
    public private(set) var trailers: [UInt8] = []
    private var byteCount = 0

    /// The most bytes of all heads and trailers: as many as those of a single response.
    static let maximumBytes = 300_000

    /// Makes an empty record.
    public init() {}

    /// The memory of the lines, in bytes.
    public var memoryBytes: Int { bytes.capacity &+ trailers.capacity }

    /// Releases the heads, because they were passed on.
    public func releaseHeads() { bytes = [] }

    /// Appends a line with its end. Returns false if there is no room for it.
    func append(_ line: UnsafeRawBufferPointer, isTrailer: Bool) -> Bool {
        guard line.count <= RecordedHeads.maximumBytes &- byteCount else { return false }
        byteCount &+= line.count
        if isTrailer { trailers.append(contentsOf: line) } else { bytes.append(contentsOf: line) }
        return true
    }
}
