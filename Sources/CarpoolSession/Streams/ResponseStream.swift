internal import CarpoolHTTP

/// The body of a request of kind ``RequestKind/stream``: bytes that are passed to readers, and are not kept (ST-01).
///
/// A buffer lies between the network and the readers. It is bounded: when some reader is too far behind, nothing more
/// is read from the origin, so that nothing is ever dropped. Without a reader it fills up and waits for the first one,
/// which gets everything from the beginning; a later reader gets what arrives from then on.
public final class ResponseStream {
    private struct Entry {
        weak var reader: StreamReader?
    }

    private weak var request: Request?
    private let memory: StreamMemory
    private var buffer = StreamBuffer()
    /// The readers, which are owned by those that made them.
    private var entries: [Entry] = []
    /// How many of the readers were freed.
    private var freedReaders = 0
    // Three cached readers, each reason enough not to look at all others when one reader has advanced. Each is the last
    // of those that are equally slow, since readers mostly advance in order.
    /// A reader that needs the beginning of the buffer.
    private weak var oldestReader: StreamReader?
    /// A reader that is too far behind, so that the origin is not read from.
    private weak var laggingReader: StreamReader?
    /// A reader that the end waits for.
    private weak var awaitedReader: StreamReader?
    /// The attempt whose response arrives, from 1.
    private(set) var attempt = 1
    private var attemptHasEnded = false
    /// The body of a response that is retried for its status; `nil` for another response.
    private var withheld: [UInt8]?
    private var isPaused = false
    /// Whether unread bytes are no longer kept.
    public private(set) var isDiscarded = false
    /// How the stream ended, once it has.
    public private(set) var completion: StreamCompletion?

    init(_ request: Request, memory: StreamMemory) {
        self.request = request
        self.memory = memory
        request.whenFinished { [weak self] in self?.finish($0) }
    }

    deinit { memory.change(by: -buffer.count - (withheld?.count ?? 0)) }

    /// The offset of the next byte.
    var end: Int64 { buffer.end }
    /// Whether there are bytes that some reader has not received, or that wait for the first one.
    public var hasUnreadBytes: Bool { buffer.count > 0 }
    /// How many calls of ``wake()`` are active, and whether a reader has advanced in them.
    private var activeWakes = 0
    private var hasAdvanced = false

    /// Whether unread bytes are dropped, because the client has cancelled the request.
    var dropsUnreadBytes: Bool {
        guard let request, !isDiscarded else { return isDiscarded }
        return request.state == .cancelled || request.isAborted
    }

    // MARK: Readers

    private var readers: [StreamReader] { entries.compactMap(\.reader) }

    /// Adds a reader, which gets what arrives from now on; the first one also gets what is buffered.
    /// - Parameters:
    ///   - delaysEnd: whether the end of the request waits until the reader has received everything.
    ///   - messageBytes: the most bytes of the records of one message, in their JSON form; also of one record.
    public func attach(_ serializer: StreamSerializer, messageBytes: Int, delaysEnd: Bool = true) -> StreamReader {
        let start = entries.isEmpty ? buffer.start : buffer.end
        let reader = StreamReader(
            self, serializer, messageBytes: messageBytes, delaysEnd: delaysEnd, from: start)
        entries.append(Entry(reader: reader))
        return reader
    }

    /// Drops bytes that no reader has asked for.
    public func discard() {
        isDiscarded = true
        trim()
        wake()
    }

    func readerWasFreed() {
        freedReaders += 1
        if activeWakes == 0 { removeFreedReaders() }
        readerDidAdvance()
    }

    /// Removes the entries of freed readers, once they are half of all, so that not every freed reader costs a scan.
    private func removeFreedReaders() {
        guard freedReaders * 2 > entries.count else { return }
        entries.removeAll { $0.reader == nil }
        freedReaders = 0
    }

    /// The attempt that the byte at an offset belongs to; `nil` if it has not arrived.
    func attempt(at position: Int64) -> Int? { buffer.withPiece(at: position) { $1 } }

    /// Passes the bytes from an offset to the end of their piece, and their attempt, to the body; `nil` if there are
    /// none.
    func withPiece<Result>(
        at position: Int64, _ body: (_ bytes: UnsafeRawBufferPointer, _ attempt: Int) -> Result
    ) -> Result? {
        buffer.withPiece(at: position, body)
    }

    /// Whether nothing more follows of an attempt's body.
    func hasEnded(_ number: Int) -> Bool {
        completion != nil || number < attempt || number == attempt && attemptHasEnded
    }

    func didParse(_ parsed: ParsedStream) {
        guard let request else { return }
        request.session.notify(.didParseStream(parsed), of: request)
    }

    /// A reader has received a message: a failure may cancel the request (ST-02).
    func readerDidReceive(_ message: StreamMessage) {
        if case .failure = message.content, let request, request.parameters.cancelsOnStreamError { request.cancel() }
        readerDidAdvance()
    }

    /// A reader has advanced: drops what all of them have received, and resumes the origin or announces the end if
    /// possible.
    func readerDidAdvance() {
        // Once for all readers that are woken together: the cost grows with their number.
        guard activeWakes == 0 else {
            hasAdvanced = true
            return
        }
        trim()
        guard let request else { return }
        if isPaused, canResume() {
            isPaused = false
            request.session.proceed(request)
        } else if attemptHasEnded, request.deferredCompletion != nil {
            request.session.proceed(request)
        }
    }

    // MARK: The buffer

    /// Bytes that the slowest reader has not received.
    private var backlog: Int { Int(clamping: buffer.end &- (readers.lazy.map(\.position).min() ?? buffer.start)) }

    /// Whether the readers have caught up far enough to resume the origin.
    private func canResume() -> Bool {
        let most = memory.limit / 2
        if let laggingReader, buffer.end &- laggingReader.position >= Int64(most) { return false }
        laggingReader = slowest(by: \.position)
        return Int(clamping: buffer.end &- (laggingReader?.position ?? buffer.start)) < most
    }

    private func trim() {
        if !dropsUnreadBytes, let oldestReader, oldestReader.deliveredEnd <= buffer.start { return }
        oldestReader = slowest(by: \.deliveredEnd)
        let before = buffer.count
        buffer.drop(before: dropsUnreadBytes ? buffer.end : oldestReader?.deliveredEnd ?? buffer.start)
        memory.change(by: buffer.count &- before)
    }

    /// Returns the last of the readers with the lowest offset.
    private func slowest(by offset: (StreamReader) -> Int64) -> StreamReader? {
        var slowest: (reader: StreamReader, offset: Int64)?
        for entry in entries {
            guard let reader = entry.reader else { continue }
            let offset = offset(reader)
            if slowest.map({ offset <= $0.offset }) ?? true { slowest = (reader, offset) }
        }
        return slowest?.reader
    }

    private func wake() {
        activeWakes += 1
        for reader in readers { reader.onReady() }
        activeWakes -= 1
        guard activeWakes == 0, hasAdvanced else { return }
        hasAdvanced = false
        removeFreedReaders()
        readerDidAdvance()
    }

    private func finish(_ request: Request) {
        if let withheld {
            self.withheld = nil
            request.body.pass(withheld.count)
            withheld.withUnsafeBytes { buffer.append($0, attempt: attempt) }
        }
        completion = StreamCompletion(
            error: request.error, state: request.state, status: request.response?.status,
            sizeBytes: request.body.count)
        trim()
        wake()
    }
}

extension ResponseStream: ResponseReceiver {
    func request(_ request: Request, didReceive head: ResponseHead) {
        attempt = request.attempts.count
        attemptHasEnded = false
        withheld = request.session.isRetriedForStatus(head, request) ? [] : nil
    }

    func request(_ request: Request, didReceive bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        if withheld != nil { return withhold(bytes, request) }
        guard backlog < memory.limit else {
            isPaused = true
            return .pause
        }
        request.session.didReceiveData(bytes.count, for: request)
        request.body.pass(bytes.count)
        buffer.append(bytes, attempt: attempt)
        memory.change(by: bytes.count)
        wake()
        return .accept
    }

    /// Keeps a piece of a response that is retried: no reader gets it, unless the request is not retried after all. A
    /// long body ends the attempt.
    private func withhold(_ bytes: UnsafeRawBufferPointer, _ request: Request) -> BodyDisposition {
        guard (withheld?.count ?? 0) + bytes.count <= Session.discardLimitBytes else {
            request.recordError(.unacceptableStatusCode(request.response?.status ?? 0))
            return .stop
        }
        withheld?.append(contentsOf: bytes)
        memory.change(by: bytes.count)
        return .accept
    }

    func canEnd(_ request: Request) -> Bool {
        if !attemptHasEnded {
            attemptHasEnded = true
            wake()
        }
        if let awaitedReader, awaitedReader.isBehind { return false }
        awaitedReader = readers.last { $0.delaysEnd && $0.isBehind }
        return awaitedReader == nil
    }

    func request(_ request: Request, didEndTaskWith error: TransportError?) { attemptHasEnded = true }

    /// A caller that has got the head reads the body behind it, and not that of another attempt.
    var isFinal: Bool { request?.hasShownHead ?? false }

    func reset() {
        memory.change(by: -(withheld?.count ?? 0))
        withheld = nil
    }
}
