internal import CCurl

/// The errors of a transfer.
extension CurlTransfer {
    /// The error of a transfer that libcurl has finished with this result; `nil` if it succeeded.
    func error(for result: CURLcode) -> TransportError? {
        guard case .running(let easy) = phase else { return nil }
        guard result == CURLE_OK || isAnswered(result, easy) else {
            // Behind an HTTPS proxy libcurl says only that the handshake has failed.
            let refused = handshakes > 1 && result == CURLE_SSL_CONNECT_ERROR ? refusedVerification : nil
            let code = refused == nil ? result : CURLE_PEER_FAILED_VERIFICATION
            return ErrorMapping(
                code: code, text: refused?.message ?? easy.errorText,
                systemCode: Int32(clamping: easy.long(CURLINFO_OS_ERRNO)),
                verification: refused.map { Int($0.result) }
                    ?? (code == CURLE_PEER_FAILED_VERIFICATION ? easy.long(CURLINFO_SSL_VERIFYRESULT) : 0),
                isRequestSent: sendCount > 0, hasStatusLine: headReader.byteCount > 0,
                hasHead: headReader.isComplete, isIdempotent: request.method.isIdempotent,
                isReused: isReused, authentication: authentication?.state, proxy: proxyOutcome(easy),
                isSwitchingProtocols: headReader.status == 101, shortages: shortages,
                lookupShortage: request.lookupShortage, lacksSocket: lacksSocket
            ).error
        }
        guard headReader.isComplete else {
            if headReader.status == 101 { return ErrorMapping.switchedError }
            // libcurl reports success for a head that is cut off.
            return TransportError(
                .networkConnectionLost, "the connection ended within the response's head",
                isRetryable: request.method.isIdempotent)
        }
        guard !isCutStream(easy) else {
            return TransportError(
                .networkConnectionLost, "the HTTP/2 connection failed before the end of the response",
                isRetryable: request.method.isIdempotent)
        }
        return isDecompressionBomb(decoded: decodedBytes, uncounted: 0) ? decompressionBombError : cutCodingError
    }

    /// Whether all of the response has arrived, and only the rest of the request's body could not be sent: a server may
    /// answer before it has got all of it, and close.
    private func isAnswered(_ result: CURLcode, _ easy: EasyHandle) -> Bool {
        guard headReader.isComplete, connection?.isAborted != true else { return false }
        // The older version may have bytes of a stream that it has not passed on.
        if isAnsweredEarly, CurlLibrary.profile == .multiplex || headReader.version != "h2" { return true }
        guard result == CURLE_SEND_ERROR, headReader.version != "h2" else { return false }
        let status = headReader.status
        if request.method == .head || status == 204 || status == 304 { return true }
        let length = easy.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        return status >= 200 && length >= 0 && easy.offset(CURLINFO_SIZE_DOWNLOAD_T) == length
    }

    /// Whether the body is a part although libcurl reports success: 7.88.1 does when the HTTP/2 session has failed.
    private func isCutStream(_ easy: EasyHandle) -> Bool {
        CurlLibrary.profile == .http1 && headReader.version == "h2" && !hasResponseEnded && hasSentBody
            && request.method != .head && headReader.status != 204 && headReader.status != 304
            && easy.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) < 0
    }

    /// The error of a response that is complete, but whose content coding is not.
    private var cutCodingError: TransportError? {
        guard let (end, coding) = decoder?.end else { return nil }
        let name = coding.rawValue
        let message =
            if headReader.status == 206 {
                "the response is a part of a body with the content coding \(name), which cannot be decoded alone"
            } else if end == .cut {
                "the body ended before its content coding \(name) did: the end of the data is missing"
            } else {
                "the body ended before the checksum of its content coding \(name): its data may be damaged"
            }
        return TransportError(.cannotDecodeContentData, message)
    }

    /// The verification of the origin's certificate, if it has failed.
    private var refusedVerification: VerificationRecord? {
        verification.flatMap { $0.result == 0 || request.partition.trust.acceptsAnyServer ? nil : $0 }
    }

    func proxyOutcome(_ easy: EasyHandle) -> ProxyOutcome? {
        request.partition.proxy.map { proxy in
            ProxyOutcome(
                proxy: proxy, origin: request.url.origin, easy,
                isSecuringProxy: proxy.kind == .https && handshakes == 1, answers: tunnelAnswers.count,
                isRepeated: hasRepeatedTunnel)
        }
    }

    /// The error when libcurl would resend a request that must not be repeated.
    var unrepeatedError: TransportError {
        if let state = authentication?.state, state.hasSentNone { return state.missingError }
        return TransportError(
            .networkConnectionLost,
            "the connection ended before any response; the request may have been processed and was not repeated",
            curlCode: Int32(bitPattern: CURLE_GOT_NOTHING.rawValue),
            curlText: String(cString: curl_easy_strerror(CURLE_GOT_NOTHING)))
    }

    /// Whether the request failed because a pooled connection was dead while it was sent, so that it can be sent
    /// again. libcurl resends it only if reading was what failed; with a body, writing fails as often.
    var canBeResent: Bool { sendCount == 1 && canBeRepeated }

    private var canBeRepeated: Bool {
        guard failure == nil, isReused, headReader.byteCount == 0, authentication?.state.error == nil else {
            return false
        }
        guard request.isRepeatable else { return false }
        if case .source(let source) = request.body { return source.canRestart }
        return true
    }

    /// Whether it is queued once more after libcurl has stopped because the server refused the stream again and again:
    /// a new connection gets requests before the server's settings say how many streams it takes. When they are there,
    /// libcurl waits for a stream.
    func isQueuedAgain(afterRefusal result: CURLcode) -> Bool {
        guard result == CURLE_SEND_ERROR || result == CURLE_RECV_ERROR, failure == nil, headReader.byteCount == 0
        else { return false }
        // The messages of libcurl that say it are off for what may be repeated anyway.
        guard isRefused || request.isRepeatable && sendCount > CurlTransfer.repeats else { return false }
        if case .source(let source) = request.body, !source.canRestart { return false }
        guard refusals < CurlTransfer.mostRefusals else {
            failure = TransportError(
                .networkConnectionLost,
                "the server has refused the request \(sendCount) times: it may take fewer at a time",
                isRetryable: true)
            return false
        }
        refusals += 1
        return true
    }

    /// Each is six streams that the server has refused.
    private static let mostRefusals = 3
    /// How often libcurl repeats a request that was refused, or whose connection has ended before the response.
    private static let repeats = 5

    /// Notes that the kernel has refused to watch its connection, or the last one that it tried to make.
    func noteRefusal() {
        guard failure == nil, let code = (connection ?? connectAttempts.last)?.refusalCode else { return }
        failure = .unwatched(code)
    }

    /// Whether its connection was aborted because the local address was lost, and the transfer fails with that.
    var failsWithLostAddress: Bool { connection?.isAborted == true && !canBeRepeated }

    /// The connection gets no more streams if its protocol has failed: libcurl would add some.
    func retireConnection(after result: CURLcode) {
        guard let connection, connection.isShared else { return }
        switch result {
        case CURLE_HTTP2, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_WEIRD_SERVER_REPLY:
            connection.isRetired = true
        default: break
        }
    }

    /// The error when a deadline has passed while a proxy's answer to CONNECT arrives: its status has been read, and
    /// libcurl waits for the rest of a body that says nothing more.
    private var refusedTunnelError: TransportError? {
        guard sendCount == 0, case .running(let easy) = phase, let outcome = proxyOutcome(easy),
            outcome.connectStatus >= 300, !outcome.isAnswered
        else { return nil }
        return outcome.error(ErrorMapping(code: CURLE_OPERATION_TIMEDOUT, text: "", shortages: shortages))
    }

    /// The error when a deadline has passed.
    func timeoutError(_ kind: Deadlines.Kind) -> TransportError {
        if let error = refusedTunnelError { return error }
        let message =
            switch kind {
            case .queue: "not started within \(request.queueTimeoutMilliseconds ?? 0) ms"
            case .connect: "not connected within \(request.connectTimeoutMilliseconds) ms"
            case .idle where connection?.isShared == true:
                "no byte of its HTTP/2 stream was sent or received for \(request.idleTimeoutMilliseconds) ms"
            case .idle, .answered: "no byte was sent or received for \(request.idleTimeoutMilliseconds) ms"
            case .body: "no more of the request's body was available for \(request.idleTimeoutMilliseconds) ms"
            case .resource: "not completed within \(request.resourceTimeoutMilliseconds) ms"
            }
        let waited = wait
        return TransportError(
            .timedOut, waited.map { "\(message): \($0.reason)" } ?? message, timeout: kind.rawValue, wait: waited,
            isRetryable: kind != .body && (sendCount == 0 || request.method.isIdempotent))
    }

    /// Its position in the queue and what it waits for; `nil` if it does not wait.
    private var wait: TransportError.Wait? {
        if let lookupPlace {
            return TransportError.Wait(
                position: transport.lookups.position(lookupPlace) + 1, obstacle: TransportError.Wait.lookups)
        }
        guard case .waiting = phase, let slot else { return nil }
        return TransportError.Wait(
            position: transport.queue.position(slot) + 1, obstacle: transport.queue.obstacle(slot).rawValue)
    }
}
