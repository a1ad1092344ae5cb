internal import CCurl
internal import CarpoolSystem
internal import Glibc

/// Callbacks of libcurl for a transfer. Nothing here may call libcurl, except to read from the transfer's own handle.
extension CurlTransfer {
    /// The return value of a write callback that makes libcurl fail the transfer.
    private static let refusal = 0
    /// Decoded bytes that are accepted before the ratio counts.
    private static let decodingGrace: Int64 = 1 << 20
    /// Encoded bytes that libcurl may hold without having counted them: its receive buffer.
    private static let uncounted: Int64 = 16_384

    /// Records that bytes were sent or received: restarts the idle timeout, and tells the busy-loop guard that libcurl
    /// makes progress.
    func noteActivity() {
        pool?.multi.hasProgressed = true
        deadlines.active(at: transport.loop.now)
    }

    func receiveHeaderLine(_ line: UnsafeRawBufferPointer) -> Int {
        noteActivity()
        guard failure == nil else { return CurlTransfer.refusal }
        guard isWithinCall(line.count) else {
            return refuseHead("the heads of the connection's responses have more than 1 MiB in one piece")
        }
        guard !isConnecting else { return tunnelAnswers.accepts(line) ? line.count : CurlTransfer.refusal }
        if request.heads?.append(line, isTrailer: headReader.isComplete) == false {
            return refuseHead("the heads of the responses have more than \(RecordedHeads.maximumBytes) bytes")
        }
        switch headReader.read(line) {
        case .none: break
        case .head(let head):
            // Which length is right is unknown, and on a shared connection the wrong one passes the following bytes
            // to another request (RFC 9112, section 6.3).
            if let fault = head.fields.lengthFault {
                failure = TransportError(
                    .cannotParseResponse,
                    fault == .conflict
                        ? "the response has Content-Length fields with different values"
                        : "the response has a Content-Length that is not a number, or one that is too large")
                return CurlTransfer.refusal
            }
            receive(head)
        case .tooLong:
            return refuseHead("the response's head has more than \(HeadReader.maximumBytes) bytes")
        case .folded:
            failure = TransportError(.cannotParseResponse, "the response has a folded Transfer-Encoding")
            return CurlTransfer.refusal
        case .tooMany:
            return refuseHead("the response's head has more than \(HeadReader.maximumLines) lines")
        }
        return line.count
    }

    /// Whether the heads that the current call of libcurl passes on have no more bytes than it may, with these.
    private func isWithinCall(_ count: Int) -> Bool {
        guard let multi = pool?.multi else { return true }
        multi.headBytes &+= count
        return multi.headBytes <= HeadReader.maximumBytesOfCall
    }

    /// Fails because the head is too large. The rest of an HTTP/2 head would be received beside the next request, and
    /// its CONTINUATION frames would end the connection (CVE-2024-28182).
    private func refuseHead(_ message: String) -> Int {
        failure = TransportError(.dataLengthExceedsMaximum, message)
        closeConnection()
        return CurlTransfer.refusal
    }

    /// Closes the connection after the transfer.
    private func closeConnection() {
        if case .running(let easy) = phase { easy.forbidReuse() }
    }

    private func receive(_ head: ResponseHead) {
        // Older versions of libcurl would wait without end to send what the server does not want any more.
        if deadlines.isBodyAwaited, head.status >= 300 { transport.resumeSending(self) }
        if connection?.relay != nil { noteEnd(of: head) }
        // A server that has answered before it got all of the body may wait for the rest of it, and would take the next
        // request for that (RFC 9112, section 9.3).
        if head.httpVersion != "h2", request.closesConnection || !hasSentBody { closeConnection() }
        if decoding.applies(to: head.fields, of: request.url) {
            decoder = ContentCoding.decodable(in: head).flatMap(ContentDecoder.init)
        }
        delegate?.transfer(self, didReceive: head)
    }

    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        let taken = takeBody(bytes)
        keepsPiece = taken == Int(CURL_WRITEFUNC_PAUSE)
        return taken
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        noteActivity()
        guard failure == nil, !bytes.isEmpty else { return CurlTransfer.refusal }
        guard !transport.mustWait(self, with: bytes) else { return Int(CURL_WRITEFUNC_PAUSE) }
        let result = decoder.map { decode(bytes, with: $0) } ?? pass(bytes)
        switch result {
        case .accept:
            transport.noteMoved(bytes.count, by: self)
            return bytes.count
        case .pause:
            transport.pause(self)
            return Int(CURL_WRITEFUNC_PAUSE)
        case .stop:
            failure = failure ?? TransportError(.cancelled, "the transfer was cancelled")
            return CurlTransfer.refusal
        }
    }

    /// Passes decoded bytes to the delegate.
    private func pass(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        guard let delegate else { return .stop }
        guard !isDecompressionBomb(decoded: decodedBytes &+ Int64(bytes.count), uncounted: CurlTransfer.uncounted)
        else {
            failure = decompressionBombError
            return .stop
        }
        let result = delegate.transfer(self, didReceive: bytes)
        if case .accept = result { decodedBytes &+= Int64(bytes.count) }
        return result
    }

    /// Decodes a piece and passes the output to the delegate. libcurl repeats a piece that was not accepted from its
    /// first byte, so the decoder remembers how much of it was read.
    private func decode(_ bytes: UnsafeRawBufferPointer, with decoder: ContentDecoder) -> BodyDisposition {
        do throws(TransportError) {
            while try decoder.fill(from: bytes) {
                let result = decoder.withOutput { pass($0) }
                guard case .accept = result else { return result }
                decoder.dropOutput()
            }
        } catch {
            failure = error
            return .stop
        }
        decoder.finishPiece()
        return .accept
    }

    /// Whether the ratio of decoded to encoded bytes exceeds the request's limit.
    func isDecompressionBomb(decoded: Int64, uncounted: Int64) -> Bool {
        guard decoding.isAskedFor || decoder != nil, decoded > CurlTransfer.decodingGrace,
            case .running(let easy) = phase
        else { return false }
        let encoded = easy.offset(CURLINFO_SIZE_DOWNLOAD_T) &+ uncounted
        return decoded / Int64(max(1, request.maximumDecodingRatio)) > encoded
    }

    var decompressionBombError: TransportError {
        TransportError(
            .dataLengthExceedsMaximum,
            "the decoded body is more than \(request.maximumDecodingRatio) times as long as the encoded body",
            isDecodedTooLarge: true)
    }

    /// The connection is made and the request is about to be sent. Returns false if it must not be sent.
    func willSend(localPort: UInt16, endpoints: @autoclosure () -> OriginConnection.Endpoints) -> Bool {
        pool?.multi.hasProgressed = true
        isConnecting = false
        // Of the stream before: the next one, in another session at the same address, may have the same number.
        cutStream = nil
        // libcurl repeats a request by itself after 417: the owner decides about that, and how often.
        hasStoppedRepeat = headReader.isComplete
        guard !hasStoppedRepeat else { return false }
        if sendCount == 0 || request.isRepeatable, transport.refusesReuse(of: localPort, for: self) {
            hasRefusedReuse = true
            needsFreshConnection = true
            return false
        }
        deadlines.connected(at: transport.loop.now)
        sendCount += 1
        hasResponseEnded = false
        hasEndedStream = false
        if failsWithLostAddress, failure == nil { failure = lostAddressError }
        // Whatever happened in the handshake: nothing is sent to a server that the evaluation has not accepted.
        if !evaluations.allowRequest, failure == nil {
            failure = TransportError(.secureConnectionFailed, "the server was not evaluated")
        }
        guard failure == nil else { return false }
        defer { isRefused = false }
        guard sendCount == 1 || request.isRepeatable || isRefused else {
            failure = unrepeatedError
            return false
        }
        guard beginBody() else {
            failure = TransportError(
                .requestBodyStreamExhausted,
                "the body has been sent in part and cannot be sent again from its beginning", needsBodyAgain: true)
            return false
        }
        transport.attach(self, localPort: localPort, endpoints: endpoints())
        return true
    }

    /// A debug message of libcurl. The refusal of a stream is the only one of interest; it is reported in no other
    /// way.
    func receiveMessage(_ text: UnsafeRawBufferPointer) {
        if RefusalMessage.matches(text) { isRefused = true }
    }

    func openSocket(family: Int32, type: Int32, protocol: Int32, isLoopback: Bool) -> Int32 {
        pool?.multi.hasProgressed = true
        isConnecting = true
        handshakes = 0
        guard !skipsFamily(family: family == AF_INET6 ? .ipv6 : .ipv4, isLoopback: isLoopback) else { return -1 }
        guard let pool, !failsWithLostAddress else { return -1 }
        let attempt = transport.openSocket(
            family: family, type: type, protocol: `protocol`, pool: pool, mark: connectionMark)
        guard let attempt else {
            if Shortage.isShortage(errno) { lacksSocket = true }
            return -1
        }
        connectAttempts.append(attempt)
        return attempt.descriptor
    }
}
