/// Provides the bytes of a request's body that are neither all in memory nor in one file. One transfer at a time
/// reads from it. All methods are called on the transport's loop, some from inside libcurl.
public protocol BodySource: AnyObject {
    /// The total number of bytes; `nil` if unknown, which HTTP/1.1 sends in chunks (RFC 9112, section 7.1).
    var lengthBytes: Int64? { get }
    /// Whether ``restart()`` returns to the same first byte.
    var canRestart: Bool { get }
    /// Whether it may have no bytes for a while, so that its connection should not be shared.
    var mayWait: Bool { get }
    /// Ends reading, so that the source frees its resources.
    func close()
    /// Rewinds to the first byte: called before every sending, and only if ``canRestart``.
    func restart()
    /// Copies the next bytes into a buffer that is not empty.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyReading
    /// Called by the source, from outside of ``read(into:)``, when there are bytes after ``BodyReading/wait``. Set by
    /// the reader.
    var onReady: () -> Void { get set }
}

/// The result of reading from a body's source.
public enum BodyReading {
    /// The number of bytes; at least one.
    case bytes(Int)
    /// Nothing more.
    case end
    /// No bytes yet; ``BodySource/onReady`` is called when there are.
    case wait
    /// Reading failed: the transfer fails with this error.
    case failed(TransportError)
}
