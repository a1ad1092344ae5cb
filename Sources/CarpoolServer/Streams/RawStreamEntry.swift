internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
internal import CarpoolSystem

/// One raw stream of a client, with its waiting calls.
final class RawStreamEntry {
    /// The name that the client uses.
    let name: String
    private var stream: RawStream?
    /// The quota that it holds until it is closed.
    var ticket: QuotaLedger.Ticket?
    private let loop: EventLoop
    private var opening: (any Responder)?
    private let opened: (inout JSONWriter) -> Void
    private var reading: (call: any Responder, count: Int, timer: Timer)?
    private var writing: [(call: any Responder, accepted: Int)] = []
    /// Called when the connection has failed.
    private let onFailure: (RawStreamEntry) -> Void

    /// Maximum calls that wait for room: each holds its bytes.
    private static let maximumWriting = 4

    /// - Parameters:
    ///   - opened: writes the answer of the call that opens it.
    ///   - onFailure: lets go of it, because it was not connected.
    init(
        name: String, loop: EventLoop, opened: @escaping (inout JSONWriter) -> Void,
        onFailure: @escaping (RawStreamEntry) -> Void
    ) {
        self.name = name
        self.loop = loop
        self.opened = opened
        self.onFailure = onFailure
    }

    deinit { stream?.close() }

    /// Lets a call wait for the connection.
    func connect(_ stream: RawStream, for call: any Responder) {
        self.stream = stream
        opening = call
        call.onCancel = { [weak self] in
            guard let self else { return }
            opening = nil
            onFailure(self)
        }
    }

    /// Ends it, and the calls that wait for it.
    func close() {
        stream?.close()
        stream = nil
        ticket = nil
        let error = RPCError.streamNotFound(name)
        if let reading { finishReading { reading.call.fail(error) } }
        for waiting in writing { waiting.call.fail(error) }
        writing = []
    }

    // MARK: Calls

    /// Sends bytes, and answers when there is room for more.
    func write(_ bytes: [UInt8], _ call: any Responder) throws(RPCError) {
        let stream = try connected()
        guard writing.count < RawStreamEntry.maximumWriting else {
            throw .tooManyInFlight("waiting calls of stream.write", limit: RawStreamEntry.maximumWriting)
        }
        let before = stream.acceptedBytes
        stream.write(bytes)
        // All may be sent by now, or the connection be lost, and then no event of the socket answers the calls before
        // this one.
        rawStreamDidBecomeReady(stream)
        if let failure = stream.failure { throw .streamFailed(failure) }
        guard bytes.isEmpty || stream.acceptedBytes > before else {
            throw .wrongState(stream: name, state: "half_closed", expected: "open for writing")
        }
        guard !stream.hasRoom else { return answer(call, accepted: bytes.count, stream) }
        writing.append((call, bytes.count))
        call.onCancel = { [weak self] in self?.writing.removeAll { $0.call === call } }
    }

    /// Answers with received bytes, or waits for them.
    func read(atMost count: Int, milliseconds: Int, _ call: any Responder) throws(RPCError) {
        let stream = try connected()
        guard reading == nil else {
            throw .wrongState(stream: name, state: "being read", expected: "one stream.read after the other")
        }
        let bytes = stream.read(atMost: count)
        if bytes.isEmpty, let failure = stream.failure { throw .streamFailed(failure) }
        guard bytes.isEmpty, !stream.isAtEnd, milliseconds > 0 else { return answer(call, bytes, stream) }
        let timer = Timer { [weak self] in
            guard let self else { return }
            finishReading { answer(call, [], stream) }
        }
        reading = (call, count, timer)
        call.onCancel = { [weak self] in self?.finishReading {} }
        loop.arm(timer, afterMilliseconds: milliseconds)
    }

    /// Closes the sending side.
    func closeWrite() throws(RPCError) -> Bool {
        let stream = try connected()
        guard stream.canCloseWrite else {
            throw .wrongState(stream: name, state: "tls", expected: "without TLS, which ends both ways at once here")
        }
        let changed = stream.closeWrite()
        rawStreamDidBecomeReady(stream)
        return changed
    }

    private func connected() throws(RPCError) -> RawStream {
        guard let stream, opening == nil else { throw .streamNotFound(name) }
        return stream
    }

    // MARK: Answers

    private func answer(_ call: any Responder, accepted: Int, _ stream: RawStream) {
        call.answer { writer in
            writer.beginObject()
            writer.member("accepted_bytes", accepted)
            writer.member("offset_bytes", stream.acceptedBytes)
            writer.member("room_bytes", stream.roomBytes)
            writer.endObject()
        }
    }

    private func answer(_ call: any Responder, _ bytes: [UInt8], _ stream: RawStream) {
        let isEnd = stream.isAtEnd && stream.failure == nil
        call.answer { writer in
            writer.beginObject()
            writer.key("base64")
            bytes.withUnsafeBytes { writer.base64($0) }
            writer.member("size_bytes", bytes.count)
            writer.member("eof", isEnd)
            writer.endObject()
        }
    }

    private func finishReading(_ body: () -> Void) {
        guard let timer = reading?.timer else { return }
        reading = nil
        loop.cancel(timer)
        body()
    }
}

extension RawStreamEntry: RawStreamDelegate {
    func rawStreamDidConnect(_ stream: RawStream) {
        opening?.answer(opened)
        opening = nil
    }

    func rawStream(_ stream: RawStream, didFailToConnectWith error: TransportError) {
        let call = opening
        opening = nil
        onFailure(self)
        call?.fail(.streamFailed(error).retryable(error.isRetryable))
    }

    func rawStreamDidBecomeReady(_ stream: RawStream) {
        if let waiting = reading {
            let bytes = stream.read(atMost: waiting.count)
            if let failure = stream.failure, bytes.isEmpty {
                finishReading { waiting.call.fail(.streamFailed(failure)) }
            } else if !bytes.isEmpty || stream.isAtEnd {
                finishReading { answer(waiting.call, bytes, stream) }
            }
        }
        guard stream.hasRoom || stream.failure != nil else { return }
        let waiting = writing
        writing = []
        for (call, accepted) in waiting {
            if let failure = stream.failure {
                call.fail(.streamFailed(failure))
            } else {
                answer(call, accepted: accepted, stream)
            }
        }
    }
}

extension RPCError {
    /// Under the names that failures of requests have.
    fileprivate static func streamFailed(_ error: TransportError) -> RPCError {
        .streamFailed(
            "session_task_failed.\(error.code.rawValue)", message: error.message,
            curlCode: error.curlCode.map { Int($0) }, errno: error.systemCode.map { Int($0) })
    }
}
