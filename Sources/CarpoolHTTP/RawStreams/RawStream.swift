internal import CCurl
public import CarpoolSystem
internal import Glibc

/// Receives the events of a raw stream. All methods are called on the loop, never from inside a call to the stream.
public protocol RawStreamDelegate: AnyObject {
    /// The connection is established, TLS included.
    func rawStreamDidConnect(_ stream: RawStream)
    /// The connection failed.
    func rawStream(_ stream: RawStream, didFailToConnectWith error: TransportError)
    /// There may be bytes to read, or more may be written, or the stream has ended; see ``RawStream/failure``.
    func rawStreamDidBecomeReady(_ stream: RawStream)
}

/// A connection over TCP or TLS that carries raw bytes, made by libcurl under the same rules as those for requests,
/// but never shared or reused.
public final class RawStream: ReadinessHandler {
    enum Phase {
        case connecting
        /// Connected: the stream reads from and writes to the socket.
        case open(Int32)
        case closed
    }

    /// Received bytes that are buffered before reading from the peer pauses.
    static let receivedLimitBytes = 262_144
    /// Bytes to send that are buffered before the writer should wait.
    static let pendingLimitBytes = 262_144
    /// The bytes written and read at a time: one record of TLS.
    private static let pieceBytes = 16_384

    private let pool: RawStreamPool
    let easy: EasyHandle
    /// libcurl reads the parsed URL in place.
    let url: HTTPURL
    /// How the connection is made and secured; `nil` for the defaults.
    let settings: ConnectionSettings?
    /// The certificate authorities of its settings; `nil` if the system's cannot be read.
    var authorities: TrustStore?
    /// The certificate authorities that it trusts; `nil` without verification, or if libcurl reads the system's file
    /// itself.
    var trustStore: TrustStore?
    /// The evaluations of the servers of its connections.
    private(set) var evaluations = TrustEvaluations()
    /// The client's authentication in its connection; `nil` without TLS.
    var authentication: ClientAuthentication?
    /// The answers of its proxy to CONNECT.
    var tunnelAnswers = TunnelAnswers()
    /// The number of shortages before it.
    private let shortages = Shortage.count
    /// Whether an address was not tried for a shortage.
    var lacksSocket = false
    /// Whether the peer has sent anything.
    private var hasReceived = false
    private weak var delegate: (any RawStreamDelegate)?
    private(set) var phase = Phase.connecting

    private var received: [UInt8] = []
    /// Whether the peer has closed its sending side.
    private var peerHasClosedWrite = false
    private var pending: [UInt8] = []
    /// The number of pending bytes that were passed to libcurl.
    private var passedBytes = 0
    /// The bytes that libcurl has not taken: OpenSSL must be called again with the same bytes.
    private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: RawStream.pieceBytes, alignment: 16)
    private var pieceRange = 0..<0
    /// Whether ``closeWrite()`` was called: the sending side is closed once everything is sent.
    private var isClosingWrite = false
    /// Whether the sending side is closed.
    private var hasClosedWrite = false
    /// Why it failed; bytes received before can still be read.
    public private(set) var failure: TransportError?
    /// Bytes that were accepted for sending so far.
    public private(set) var acceptedBytes: Int64 = 0

    init(
        pool: RawStreamPool, easy: EasyHandle, url: HTTPURL, settings: ConnectionSettings?,
        delegate: any RawStreamDelegate
    ) {
        self.settings = settings
        self.pool = pool
        self.easy = easy
        self.url = url
        self.delegate = delegate
    }

    deinit { piece.deallocate() }

    // MARK: Using it

    /// Whether everything was read and nothing more will arrive.
    public var isAtEnd: Bool { received.isEmpty && (peerHasClosedWrite || failure != nil) }

    /// Whether more should be written. All that is written is accepted.
    public var hasRoom: Bool { pending.count - passedBytes < RawStream.pendingLimitBytes }

    /// The number of bytes that may be written before ``hasRoom`` becomes false.
    public var roomBytes: Int { max(0, RawStream.pendingLimitBytes - (pending.count - passedBytes)) }

    /// Removes and returns received bytes, at most `count`; empty if there are none.
    public func read(atMost count: Int) -> [UInt8] {
        let bytes = Array(received.prefix(max(0, count)))
        guard !bytes.isEmpty else { return [] }
        let wasFull = received.count >= RawStream.receivedLimitBytes
        received.removeFirst(bytes.count)
        // TLS may hold bytes for which the socket does not become readable.
        if wasFull { receive() }
        updateInterest()
        return bytes
    }

    /// Queues bytes, which are sent as fast as the peer reads.
    public func write(_ bytes: [UInt8]) {
        guard case .open = phase, failure == nil, !isClosingWrite else { return }
        pending.append(contentsOf: bytes)
        acceptedBytes &+= Int64(bytes.count)
        send()
        updateInterest()
    }

    /// Whether the sending side can be closed alone: libcurl cannot send TLS's close_notify for that, and peers over
    /// TLS take TCP's FIN for an attack.
    public var canCloseWrite: Bool { url.origin.scheme == "http" }

    /// Closes the sending side once everything is sent. Returns whether the call changed anything.
    @discardableResult public func closeWrite() -> Bool {
        guard canCloseWrite, case .open = phase, failure == nil, !isClosingWrite else { return false }
        isClosingWrite = true
        send()
        updateInterest()
        return true
    }

    /// Closes it at once in both directions, with TLS's close_notify. The delegate is not called any more.
    public func close() {
        delegate = nil
        pool.close(self)
    }

    // MARK: Events from the pool

    /// The connection is established. Must be called at once, before libcurl does anything else: the first read binds
    /// the connection to this handle.
    func didConnect() {
        // Whatever happened in the handshake: nothing is sent to a server that the evaluation has not accepted.
        guard evaluations.allowRequest else { return didFailToConnect(CURLE_SSL_CONNECT_ERROR) }
        let socket = CCurl_get_active_socket(easy.raw)
        guard socket != CURL_SOCKET_BAD else { return didFailToConnect(CURLE_COULDNT_CONNECT) }
        phase = .open(socket)
        receive()
        delegate?.rawStreamDidConnect(self)
        updateInterest()
    }

    /// The connection failed.
    func didFailToConnect(_ code: CURLcode) {
        fail(code)
        if let failure { delegate?.rawStream(self, didFailToConnectWith: failure) }
    }

    private func fail(_ code: CURLcode) {
        guard failure == nil else { return }
        if let refused = evaluations.failure {
            failure = TransportError(refused)
            return
        }
        let verification = code == CURLE_PEER_FAILED_VERIFICATION ? easy.long(CURLINFO_SSL_VERIFYRESULT) : 0
        failure =
            ErrorMapping(
                code: code, text: easy.errorText, systemCode: Int32(clamping: easy.long(CURLINFO_OS_ERRNO)),
                verification: verification, hasStatusLine: hasReceived, isIdempotent: false,
                authentication: authentication?.state,
                proxy: settings?.values.proxy.map { proxy in
                    ProxyOutcome(
                        proxy: proxy, origin: url.origin, easy, isSecuringProxy: false, answers: tunnelAnswers.count)
                }, shortages: shortages, lacksSocket: lacksSocket
            ).error
    }

    // MARK: The trust in its server

    /// How the server's certificate is verified.
    var trust: ServerTrust { settings?.values.trust ?? .system }

    /// Begins the evaluation of the server of a connection; false if memory is out. Called from within libcurl.
    func beginEvaluation() -> Bool {
        evaluations.begin(trust.evaluator, store: authorities, host: url.origin.bareHost, port: url.origin.port)
    }

    /// The question that a caller has to decide before the next connection.
    func nextQuestion() -> TrustEvaluation.PendingQuestion? {
        evaluations.failure == nil ? evaluations.nextQuestion() : nil
    }

    /// The caller has decided about the server.
    func decided(_ answer: CustomTrust.TrustAnswer, _ acceptance: TrustEvaluation.Acceptance) {
        switch answer {
        case .accept: evaluations.accept(acceptance)
        case .refuse(let reason):
            guard let refused = evaluations.latest?.refusal(reason) else { return }
            failure = TransportError(refused)
            if let failure { delegate?.rawStream(self, didFailToConnectWith: failure) }
        }
    }

    /// Forgets the socket, which libcurl closes.
    func didClose() {
        if case .open(let socket) = phase { pool.loop.forget(socket) }
        phase = .closed
        delegate = nil
    }

    // MARK: Moving bytes

    /// The socket is ready.
    public func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        if readiness.contains(.unwatched), failure == nil { failure = .unwatched(pool.loop.refusalCode) }
        if readiness.contains(.writable) || readiness.contains(.failed) { send() }
        receive()
        updateInterest()
        delegate?.rawStreamDidBecomeReady(self)
    }

    private func receive() {
        guard case .open = phase, failure == nil, !peerHasClosedWrite else { return }
        while received.count < RawStream.receivedLimitBytes {
            var (count, code) = (0, CURLE_OK)
            received.append(contentsOf: repeatElement(0, count: RawStream.pieceBytes))
            received.withUnsafeMutableBytes { buffer in
                let piece = UnsafeMutableRawBufferPointer(rebasing: buffer.suffix(RawStream.pieceBytes))
                code = curl_easy_recv(easy.raw, piece.baseAddress, piece.count, &count)
            }
            received.removeLast(RawStream.pieceBytes - (code == CURLE_OK ? count : 0))
            if code == CURLE_AGAIN { return }
            guard code == CURLE_OK else { return fail(code == CURLE_UNSUPPORTED_PROTOCOL ? CURLE_RECV_ERROR : code) }
            hasReceived = hasReceived || count > 0
            if count == 0 {
                peerHasClosedWrite = true
                return
            }
        }
    }

    private func send() {
        guard case .open(let socket) = phase, failure == nil, !hasClosedWrite else { return }
        while nextPiece() {
            var count = 0
            let code = curl_easy_send(
                easy.raw, piece.baseAddress.map { $0 + pieceRange.lowerBound }, pieceRange.count, &count)
            if code == CURLE_AGAIN { return }
            guard code == CURLE_OK else { return failSending(code) }
            pieceRange = pieceRange.lowerBound + count..<pieceRange.upperBound
        }
        guard isClosingWrite else { return }
        hasClosedWrite = true
        shutdown(socket, Int32(SHUT_WR))
    }

    /// Reads what the peer has sent before it closed, such as why it refuses the client's certificate.
    private func failSending(_ code: CURLcode) {
        receive()
        fail(code)
    }

    /// Fills the next piece for libcurl; false if everything is sent.
    private func nextPiece() -> Bool {
        guard pieceRange.isEmpty else { return true }
        let count = min(RawStream.pieceBytes, pending.count - passedBytes)
        guard count > 0 else {
            pending.removeAll(keepingCapacity: false)
            passedBytes = 0
            return false
        }
        piece.copyBytes(from: pending[passedBytes..<passedBytes + count])
        pieceRange = 0..<count
        passedBytes += count
        // Without this, bytes of a client that keeps writing would never be freed.
        if passedBytes >= RawStream.pendingLimitBytes {
            pending.removeFirst(passedBytes)
            passedBytes = 0
        }
        return true
    }

    /// Registers interest in the next event.
    private func updateInterest() {
        guard case .open(let socket) = phase else { return }
        var interest: Interest = []
        if failure == nil {
            if !peerHasClosedWrite, received.count < RawStream.receivedLimitBytes { interest.insert(.readable) }
            if !pieceRange.isEmpty { interest.insert(.writable) }
        }
        if interest.isEmpty {
            pool.loop.forget(socket)
        } else {
            pool.loop.setInterest(interest, for: socket, handler: self)
        }
    }
}
