internal import CCurl
internal import CarpoolSystem

// Responses that are complete before all of the request's body is sent (RFC 9112, section 9.3; RFC 9113, section 8.1).
// The rest is sent as long as the peer takes it; then the transfer has succeeded.
extension CurlTransfer: BodySender {
    /// Whether all of the response has arrived and was passed on, and the request is not sent completely.
    var isAnsweredEarly: Bool { deadlines.isAnswered && !isPausedByReceiver }

    /// Whether libcurl has bytes of the response that its owner has not taken.
    private var isPausedByReceiver: Bool { keepsPiece || deadlines.isPaused || hasUsedItsShare }

    /// All of the response has arrived.
    func responseHasEnded() {
        hasResponseEnded = true
        guard !hasEndedStream, headReader.isComplete else { return }
        deadlines.isAnswered = true
        // libcurl sends no more of the body after these.
        if headReader.version == "h2", headReader.status >= 300 { return transport.endAnswered(self) }
        transport.armDeadlineTimer(of: self)
    }

    /// The HTTP/2 stream was closed without an error: after a complete response the server wants no more of the body.
    func streamHasClosed() { if hasResponseEnded, !hasEndedStream { transport.endAnswered(self) } }

    /// libcurl has read input while nothing could be sent. It waits for more until the response has ended.
    func connectionWasRead() {
        guard case .running = phase, !hasResponseEnded, headReader.isComplete, !isPausedByReceiver,
            let connection, connection.sender === self, !connection.interest.contains(.readable)
        else { return }
        // The older version also waits for no more when the peer has closed, whether or not that was all.
        guard CurlLibrary.profile == .multiplex || connection.hasNoUnexpectedInput else { return }
        responseHasEnded()
    }
}

extension CurlTransport {
    /// Ends a transfer that is answered when the turn ends: libcurl must not be called from its callbacks. Its older
    /// version may have bytes of the response that it passes on later.
    func endAnswered(_ transfer: CurlTransfer) {
        guard CurlLibrary.profile == .multiplex else { return armDeadlineTimer(of: transfer) }
        answered.append(transfer)
        observeTurn()
    }

    /// Ends a transfer that is answered early with its response. Returns false if it is not.
    @discardableResult func finishAnswered(_ transfer: CurlTransfer) -> Bool {
        guard case .running = transfer.phase, transfer.failure == nil, transfer.isAnsweredEarly else { return false }
        transfer.checkRelay()
        finish(transfer, error: transfer.failure ?? transfer.error(for: CURLE_OK))
        return true
    }
}
