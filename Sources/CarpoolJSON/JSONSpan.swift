/// A range of bytes in a text. Messages are far shorter than 4 GiB, and a text may have very many parts.
public struct JSONSpan: Equatable, Sendable {
    /// The offset of the first byte.
    let start: UInt32
    /// The offset after the last byte.
    let end: UInt32

    init(_ start: Int, _ end: Int) {
        self.start = UInt32(truncatingIfNeeded: start)
        self.end = UInt32(truncatingIfNeeded: end)
    }

    /// The number of bytes.
    public var count: Int { Int(end &- start) }

    /// The bytes in the text that the span was found in.
    public func bytes(of text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: text[Int(start)..<Int(end)])
    }
}
