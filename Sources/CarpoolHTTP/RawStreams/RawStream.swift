internal import CCurl
public import CarpoolSystem
internal import Glibc

/// Whoever uses a raw stream. All methods are called on the loop, never from inside a call to the stream.
public protocol RawStreamDelegate: AnyObject {
    /// The connection stands, TLS included.
    func rawStreamDidConnect(_ stream: RawStream)
    /// It could not be connected.
    func rawStream(_ stream: RawStream, didFailToConnectWith error: TransportError)
    /// There may be more to read, or room to write, or the end has come; see ``RawStream/failure``.
    func rawStreamDidMove(_ stream: RawStream)
}

/// A connection over TCP or TLS that carries bytes and nothing else, made by libcurl under the same rules as those for requests, but never
/// shared and never used again.
public final class RawStream: ReadinessHandler {
    enum Phase {
        case connecting
        /// Connected; the socket is in our hands.
        case open(Int32)
        case closed
    }

    /// Received bytes that are held before nothing more is read from the peer.
    static let receivedLimitBytes = 262_144
    /// Bytes to send that are held before whoever gives more should wait.
    static let pendingLimitBytes = 262_144
    /// What is given to libcurl at a time, and read at a time: one record of TLS.
    private static let pieceBytes = 16_384

    private let owner: RawStreamPool
    let easy: EasyHandle
    /// libcurl reads the parsed URL where it lies.
    let url: HTTPURL
    /// The authorities, as long as libcurl may use them.
    let trust: ConnectionPartition.Trust
    var systemTrust: TrustStore?
    private weak var delegate: (any RawStreamDelegate)?
    private(set) var phase = Phase.connecting

    private var received: [UInt8] = []
    /// Whether the peer has said that it sends no more.
    private var peerHasEnded = false
    private var pending: [UInt8] = []
    /// How much of what is pending has been given to libcurl.
    private var given = 0
    /// What libcurl has not taken: OpenSSL wants to see the very same bytes again.
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: RawStream.pieceBytes, alignment: 16)
    private var pieceRange = 0..<0
    private var isEnding = false
    private var hasEnded = false
    /// Why it broke; what was received before can still be read.
    public private(set) var failure: TransportError?
    /// Bytes that were taken for sending so far.
    public private(set) var acceptedBytes: Int64 = 0

    init(
        owner: RawStreamPool, easy: EasyHandle, url: HTTPURL, trust: ConnectionPartition.Trust,
        delegate: any RawStreamDelegate
    ) {
        self.trust = trust
        self.owner = owner
        self.easy = easy
        self.url = url
        self.delegate = delegate
    }

    deinit { piece.deallocate() }

    // MARK: Using it

    /// Whether what is received has come to its end: everything is read, and nothing more will come.
    public var isAtEnd: Bool { received.isEmpty && (peerHasEnded || failure != nil) }

    /// Whether more should be given for sending; what is given is taken in any case.
    public var hasRoom: Bool { pending.count - given < RawStream.pendingLimitBytes }

    /// Bytes that may be given before ``hasRoom`` is false.
    public var roomBytes: Int { max(0, RawStream.pendingLimitBytes - (pending.count - given)) }

    /// Takes what has been received, at most so many bytes; none if there is nothing.
    public func read(atMost count: Int) -> [UInt8] {
        let bytes = Array(received.prefix(max(0, count)))
        guard !bytes.isEmpty else { return [] }
        let wasFull = received.count >= RawStream.receivedLimitBytes
        received.removeFirst(bytes.count)
        // TLS may hold bytes that the socket does not tell of any more.
        if wasFull { receive() }
        settle()
        return bytes
    }

    /// Sends bytes, as soon as the peer takes them.
    public func write(_ bytes: [UInt8]) {
        guard case .open = phase, failure == nil, !isEnding else { return }
        pending.append(contentsOf: bytes)
        acceptedBytes &+= Int64(bytes.count)
        send()
        settle()
    }

    /// Whether its end can be told while it goes on: libcurl cannot send TLS's own word for that, and peers over TLS take TCP's for an attack.
    public var canCloseWrite: Bool { url.origin.scheme == "http" }

    /// Tells the peer that nothing more will be sent, once all is. Gives whether the call changed anything.
    @discardableResult public func closeWrite() -> Bool {
        guard canCloseWrite, case .open = phase, failure == nil, !isEnding else { return false }
        isEnding = true
        send()
        settle()
        return true
    }

    /// Ends it at once for both sides; TLS says so to the peer. The delegate hears nothing more.
    public func close() {
        delegate = nil
        owner.close(self)
    }

    // MARK: What its pool tells it

    /// The connection stands. To be called at once, before libcurl does anything else: the first look for bytes makes the connection this
    /// handle's own.
    func didConnect() {
        let socket = CCurl_get_active_socket(easy.raw)
        guard socket != CURL_SOCKET_BAD else { return didFailToConnect(CURLE_COULDNT_CONNECT) }
        phase = .open(socket)
        receive()
        delegate?.rawStreamDidConnect(self)
        settle()
    }

    /// The connection has come to nothing.
    func didFailToConnect(_ code: CURLcode) {
        fail(code)
        if let failure { delegate?.rawStream(self, didFailToConnectWith: failure) }
    }

    private func fail(_ code: CURLcode) {
        guard failure == nil else { return }
        let verification = code == CURLE_PEER_FAILED_VERIFICATION ? easy.long(CURLINFO_SSL_VERIFYRESULT) : 0
        failure =
            ErrorMapping(
                code: code, text: easy.errorText, systemCode: Int32(clamping: easy.long(CURLINFO_OS_ERRNO)),
                verification: verification, isIdempotent: false
            ).error
    }

    /// Lets go of the socket, which libcurl closes.
    func didClose() {
        if case .open(let socket) = phase { owner.loop.forget(socket) }
        phase = .closed
        delegate = nil
    }

    // MARK: Moving bytes

    /// The socket is ready.
    public func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        if readiness.contains(.writable) || readiness.contains(.failed) { send() }
        receive()
        settle()
        delegate?.rawStreamDidMove(self)
    }

    private func receive() {
        guard case .open = phase, failure == nil, !peerHasEnded else { return }
        while received.count < RawStream.receivedLimitBytes {
            var (count, code) = (0, CURLE_OK)
            received.append(contentsOf: repeatElement(0, count: RawStream.pieceBytes))
            received.withUnsafeMutableBytes { buffer in
                let room = UnsafeMutableRawBufferPointer(rebasing: buffer.suffix(RawStream.pieceBytes))
                code = curl_easy_recv(easy.raw, room.baseAddress, room.count, &count)
            }
            received.removeLast(RawStream.pieceBytes - (code == CURLE_OK ? count : 0))
            if code == CURLE_AGAIN { return }
            guard code == CURLE_OK else { return fail(code == CURLE_UNSUPPORTED_PROTOCOL ? CURLE_RECV_ERROR : code) }
            if count == 0 {
                peerHasEnded = true
                return
            }
        }
    }

    private func send() {
        guard case .open(let socket) = phase, failure == nil, !hasEnded else { return }
        while nextPiece() {
            var count = 0
            let code = curl_easy_send(
                easy.raw, piece.baseAddress.map { $0 + pieceRange.lowerBound }, pieceRange.count, &count)
            if code == CURLE_AGAIN { return }
            guard code == CURLE_OK else { return fail(code) }
            pieceRange = pieceRange.lowerBound + count..<pieceRange.upperBound
        }
        guard isEnding else { return }
        hasEnded = true
        shutdown(socket, Int32(SHUT_WR))
    }

    /// Makes sure that there is something for libcurl to take; false if all is sent.
    private func nextPiece() -> Bool {
        guard pieceRange.isEmpty else { return true }
        let count = min(RawStream.pieceBytes, pending.count - given)
        guard count > 0 else {
            pending.removeAll(keepingCapacity: false)
            given = 0
            return false
        }
        piece.copyBytes(from: pending[given..<given + count])
        pieceRange = 0..<count
        given += count
        // A client that never lets it run dry must not have all that it ever sent kept.
        if given >= RawStream.pendingLimitBytes {
            pending.removeFirst(given)
            given = 0
        }
        return true
    }

    /// Waits for what can be done next.
    private func settle() {
        guard case .open(let socket) = phase else { return }
        var interest: Interest = []
        if failure == nil {
            if !peerHasEnded, received.count < RawStream.receivedLimitBytes { interest.insert(.readable) }
            if !pieceRange.isEmpty { interest.insert(.writable) }
        }
        if interest.isEmpty {
            owner.loop.forget(socket)
        } else {
            owner.loop.setInterest(interest, for: socket, handler: self)
        }
    }
}
