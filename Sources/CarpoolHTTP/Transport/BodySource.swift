/// Gives the bytes of a request's body as the network takes them, where they are not all in memory or in one file. One transfer at a time
/// reads from it. All methods are called on the transport's loop, some from inside libcurl.
public protocol BodySource: AnyObject {
    /// How many bytes there are in all; `nil` if nobody knows, which HTTP/1.1 sends in chunks (RFC 9112, section 7.1).
    var lengthBytes: Int64? { get }
    /// Whether ``restart()`` gives the same bytes from the first one on.
    var canRestart: Bool { get }
    /// Whether it may have nothing to give for a while, so that its connection should be nobody else's.
    var mayWait: Bool { get }
    /// Nobody reads any more: what it holds may go.
    func close()
    /// Goes back to the first byte: called before every sending, and only if ``canRestart``.
    func restart()
    /// Copies the next bytes into a room that is not empty.
    func read(into room: UnsafeMutableRawBufferPointer) -> BodyReading
    /// To be called, from outside of ``read(into:)``, when there is more after ``BodyReading/wait``. Set by whoever reads.
    var onReady: () -> Void { get set }
}

/// What a body's source has to give.
public enum BodyReading {
    /// So many bytes; at least one.
    case bytes(Int)
    /// Nothing more.
    case end
    /// Nothing now; ``BodySource/onReady`` tells when.
    case wait
    /// The bytes cannot be had: the transfer fails with this.
    case failed(TransportError)
}
