/// The heads of the responses to a request, as they were received: those of interim responses and challenges too.
public final class RecordedHeads {
    /// The lines up to the end of the last head; none after ``releaseHeads()``.
    public private(set) var bytes: [UInt8] = []
    /// The lines after the body.
    public private(set) var trailers: [UInt8] = []
    /// The answers of a proxy to CONNECT, for the connection of the first response, whichever request has made it; none
    /// after ``releaseHeads()``.
    public private(set) var connectBytes: [UInt8] = []
    /// The number of that connection; 0 if there was none.
    public private(set) var connection = 0
    private var byteCount = 0

    /// The most bytes of all heads and trailers: as many as those of a single response.
    static let maximumBytes = 300_000

    /// Makes an empty record.
    public init() {}

    /// The memory of the lines, in bytes.
    public var memoryBytes: Int { bytes.capacity &+ trailers.capacity &+ connectBytes.capacity }

    /// Releases the heads, because they were passed on.
    public func releaseHeads() {
        bytes = []
        connectBytes = []
    }

    /// Appends a line with its end. Returns false if there is no room for it.
    func append(_ line: UnsafeRawBufferPointer, isTrailer: Bool) -> Bool {
        guard line.count <= RecordedHeads.maximumBytes &- byteCount else { return false }
        byteCount &+= line.count
        if isTrailer { trailers.append(contentsOf: line) } else { bytes.append(contentsOf: line) }
        return true
    }

    /// Takes the tunnel of a connection; `nil` for one that was not made. That of another connection, such as one on
    /// which a challenge is answered, comes behind the heads that were received before.
    func record(_ tunnel: ProxyTunnel, of connection: Int?) {
        let connection = connection ?? 0
        guard connection == 0 || connection != self.connection else { return }
        if bytes.isEmpty {
            connectBytes = tunnel.heads
        } else if tunnel.heads.count <= RecordedHeads.maximumBytes &- byteCount {
            byteCount &+= tunnel.heads.count
            bytes += tunnel.heads
        }
        self.connection = connection
    }
}

/// The tunnel that an HTTP proxy has made, or refused.
struct ProxyTunnel {
    /// The status of its last answer to CONNECT; 0 for none.
    let status: Int
    /// The heads of its answers, as they were received.
    let heads: [UInt8]
}
