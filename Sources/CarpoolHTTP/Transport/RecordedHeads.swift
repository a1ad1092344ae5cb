/// The heads of the responses to a request, as they were received: those of interim responses and challenges too.
public final class RecordedHeads {
    /// The lines up to the end of the last head.
    public private(set) var bytes: [UInt8] = []
    /// The lines after the body.
    public private(set) var trailers: [UInt8] = []

    /// Makes an empty record.
    public init() {}

    /// Appends a line with its end.
    func append(_ line: UnsafeRawBufferPointer, isTrailer: Bool) {
        if isTrailer { trailers.append(contentsOf: line) } else { bytes.append(contentsOf: line) }
    }
}
