internal import CCurl
internal import CarpoolSystem
internal import Glibc

/// Sends the body of a request. Nothing here may call libcurl.
extension CurlTransfer {
    /// Rewinds the body before each sending: libcurl rewinds only what it knows to have sent. Returns false if the
    /// body cannot be rewound.
    func beginBody() -> Bool {
        if case .source(let source) = request.body {
            guard source.canRestart else { return false }
            source.restart()
            source.onReady = { [weak self] in self.map { $0.transport.resumeSending($0) } }
        }
        prepareFile()
        bodyPosition = 0
        hasEndedBody = false
        acknowledgements = SendAcknowledgements()
        deadlines.isAnswered = false
        deadlines.isBodyAwaited = false
        hasCheckedForResponse = false
        return true
    }

    /// Whether libcurl has taken all of the body.
    var hasSentBody: Bool {
        if case .none = request.body { return true }
        return request.body.lengthBytes.map { bodyPosition >= $0 } ?? hasEndedBody
    }

    /// Starts reading a body's file ahead, or rewinds it.
    private func prepareFile() {
        guard case .file(let file, let offset, let length) = request.body else { return }
        if let fileReader { return fileReader.restart() }
        let reader = FileReadAhead(file, offset: offset, length: length)
        reader.onReady = { [weak self] in self.map { $0.transport.resumeSending($0) } }
        fileReader = reader
    }

    func provideBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        noteSending()
        guard failure == nil else { return Int(CURL_READFUNC_ABORT) }
        guard !deadlines.isPaused else { return Int(CURL_READFUNC_PAUSE) }
        guard !transport.mustWait(self) else { return Int(CURL_READFUNC_PAUSE) }
        if let connection, !connection.isSendingBody { beginSending(over: connection) }
        let buffer = UnsafeMutableRawBufferPointer(
            rebasing: buffer[..<min(buffer.count, transport.budget.largestPiece)])
        guard !hasUnreadResponse else {
            deadlines.isBodyAwaited = true
            transport.resumeSending(self)
            return Int(CURL_READFUNC_PAUSE)
        }
        switch readBody(into: buffer) {
        case .bytes(let count):
            bodyPosition &+= Int64(count)
            transport.noteMoved(count, by: self)
            // Over HTTP/2 the peer may leave it to libcurl.
            if connection?.sender != nil { watchAcknowledgements(atMost: .max) }
            delegate?.transfer(self, didSendBodyBytes: count)
            return count
        case .end:
            hasEndedBody = true
            return 0
        case .wait:
            deadlines.isBodyAwaited = true
            return Int(CURL_READFUNC_PAUSE)
        case .failed(let error):
            failure = error
            return Int(CURL_READFUNC_ABORT)
        }
    }

    /// Records that libcurl sends. The kernel may take more although the peer does not: then only acknowledgements
    /// count for the idle timeout.
    private func noteSending() {
        pool?.multi.hasProgressed = true
        if !acknowledgements.isAwaited { deadlines.active(at: transport.loop.now) }
    }

    /// A piece of the body has left libcurl over HTTP/2.
    func streamHasSentData() {
        noteSending()
        watchAcknowledgements(atMost: CurlTransfer.unwrittenBytes)
    }

    /// The most bytes that libcurl holds of what nghttp2 has passed on to be written, and more.
    private static let unwrittenBytes: UInt64 = 131_072

    /// - Parameter bytes: how many bytes after those that are written now may be of the body.
    private func watchAcknowledgements(atMost bytes: UInt64) {
        guard !acknowledgements.isAwaited || bytes != .max, let connection else { return }
        let isNew = !acknowledgements.isAwaited
        acknowledgements.await(connection, atMost: bytes)
        if isNew, acknowledgements.isAwaited { transport.armDeadlineTimer(of: self) }
    }

    /// While a slow peer takes what libcurl and the kernel hold of the body, nothing else shows that it does.
    func noteAcknowledgements() {
        // What waits for its share is about to be written.
        guard acknowledgements.isAwaited, !awaitsShare, let connection,
            acknowledgements.hasProgressed(on: connection)
        else { return }
        if !deadlines.isBodyAwaited { deadlines.active(at: transport.loop.now) }
    }

    /// Bodies up to this size are accepted by the peer's kernel, whatever its program does.
    private static let smallBodyBytes: Int64 = 65_536

    /// A server that is slow to read a large body leaves it in our kernel's send buffer, where TCP_USER_TIMEOUT would
    /// take the peer for dead.
    private func beginSending(over connection: OriginConnection) {
        connection.isSendingBody = true
        if connection.negotiated?.httpVersion != "h2" { connection.sender = self }
        guard request.body.lengthBytes ?? .max > CurlTransfer.smallBodyBytes else { return }
        transport.connections.raiseUserTimeout(connection)
    }

    /// Whether there is input to read before more is sent. A server that has answered early and closes makes the next
    /// sending fail, upon which libcurl gives up with the answer unread. Checked once before each piece: the input
    /// may be something else.
    private var hasUnreadResponse: Bool {
        guard !hasCheckedForResponse, bodyPosition > 0, let connection, connection.negotiated?.httpVersion != "h2"
        else {
            hasCheckedForResponse = false
            return false
        }
        hasCheckedForResponse = connection.hasInput
        return hasCheckedForResponse
    }

    private func readBody(into buffer: UnsafeMutableRawBufferPointer) -> BodyReading {
        let left = request.body.lengthBytes.map { Int(clamping: $0 &- bodyPosition) } ?? buffer.count
        let buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, max(0, left))])
        guard !buffer.isEmpty else { return .end }
        switch request.body {
        case .none: return .end
        case .bytes(let bytes):
            let start = min(Int(clamping: bodyPosition), bytes.count)
            buffer.copyBytes(from: bytes[start..<start + buffer.count])
            return .bytes(buffer.count)
        case .file: return fileReader?.read(into: buffer) ?? .end
        case .source(let source):
            let reading = source.read(into: buffer)
            guard case .end = reading, let length = source.lengthBytes else { return reading }
            return .failed(
                TransportError(
                    .requestBodyStreamExhausted, "the body ended after \(bodyPosition) of \(length) bytes"))
        }
    }
}
