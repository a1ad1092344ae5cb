public import CarpoolHTTP
public import CarpoolSystem

/// A body that is read from a pipe or a socket while it is sent. The loop only polls the descriptor: jobs of the worker
/// read it, since another process may hold its lock.
public final class DescriptorSource: BodySource, ReadinessHandler {
    /// The state of the descriptor.
    private enum Step {
        case none
        /// A job is reading.
        case reading
        /// The loop polls for bytes.
        case polling
        /// Polling is suspended for a while, because the descriptor was ready without bytes to read.
        case paused
    }

    /// The announced length of the body, if the client has given one.
    public let lengthBytes: Int64?
    /// Called when a waiting reader may continue.
    public var onReady: () -> Void = {}
    /// Open until ``close()``; a job that reads keeps it open until it returns.
    private var stream: PassedStream?
    private let loop: EventLoop
    private let worker: WorkerAccess
    private var step = Step.none
    private var blocks = ReadAheadBlocks()
    /// How many bytes were read, including those still in the blocks.
    private var readBytes: Int64 = 0
    /// The result that follows the last byte, if nothing more is read.
    private var end: BodyReading?
    private var isReaderWaiting = false
    private var hasReturnedBytes = false
    /// Whether no bytes were read since the last readiness event.
    private var hasReadNothing = false
    /// The timer that resumes polling; made when first needed.
    private var pollTimer: Timer?
    /// The timer that frees the buffer of a silent source; made when first needed.
    private var silenceTimer: Timer?

    /// The size of a buffer: as for files.
    private static let blockBytes: Int64 = 262_144
    /// The size of a large read: the default capacity of a pipe. After such a read more bytes usually follow.
    private static let largeReadBytes = 65_536

    /// How long polling is suspended after a fruitless readiness, in milliseconds: a socket with an error report that
    /// no process reads (MSG_ERRQUEUE), or a datagram socket that was shut down, stays ready for good.
    private static let pollPauseMilliseconds = 10
    /// The time after which a silent source frees its buffer, in milliseconds: the number of silent sources is not
    /// bounded by active transfers.
    private static let silenceMilliseconds = 100

    /// Takes ownership of a descriptor.
    public init(
        _ descriptor: WorkerFile, isSocket: Bool, lengthBytes: Int64?, loop: EventLoop, worker: WorkerAccess
    ) {
        stream = PassedStream(descriptor, isSocket: isSocket)
        self.lengthBytes = lengthBytes
        self.loop = loop
        self.worker = worker
    }

    deinit { close() }

    /// Always `true`: a read may have to wait for the writer.
    public var mayWait: Bool { true }

    /// Only before the first byte was returned: bytes that were read are gone.
    public var canRestart: Bool { !hasReturnedBytes && stream != nil }

    /// Restarts before the first byte: there is nothing to rewind.
    public func restart() { isReaderWaiting = false }

    /// Copies the bytes that jobs have read.
    public func read(into room: UnsafeMutableRawBufferPointer) -> BodyReading {
        guard stream != nil else {
            return .failed(TransportError(.requestBodyStreamExhausted, "the body's descriptor is closed"))
        }
        if let count = blocks.take(into: room) {
            hasReturnedBytes = true
            if left > 0, end == nil { readAhead() } else { blocks.dropSpare() }
            return .bytes(count)
        }
        if let end { return end }
        guard left > 0 else { return .end }
        isReaderWaiting = true
        readAhead()
        return .wait
    }

    /// How many more bytes may be read: what follows the body belongs to the caller.
    private var left: Int64 { lengthBytes.map { $0 - readBytes } ?? .max }

    private func readAhead() {
        guard let stream, case .none = step, end == nil, left > 0, !blocks.isFull else { return }
        let count = Int(min(DescriptorSource.blockBytes, left))
        let block = blocks.empty(bytes: count)
        step = .reading
        // One job for each descriptor, so that their number is bounded.
        worker.runAlways {
            stream.read(into: UnsafeMutableRawBufferPointer(rebasing: block.buffer[..<count]))
        } then: { [weak self] result in
            self?.didRead(result, block)
        }
    }

    private func didRead(_ result: IOResult, _ block: ReadAheadBlocks.Block) {
        guard stream != nil else { return }
        step = .none
        if case .bytes(let count) = result {
            block.count = count
            hasReadNothing = false
        }
        readBytes += Int64(block.count)
        blocks.append(block)
        switch result {
        case .bytes(let count) where count >= DescriptorSource.largeReadBytes: readAhead()
        case .bytes: poll()
        case .wouldBlock: if hasReadNothing { pausePolling() } else { poll() }
        case .endOfFile: end = .end
        case .failed(let code):
            end = .failed(DescriptorSource.failure(code))
        }
        guard isReaderWaiting, !blocks.isEmpty || end != nil else { return }
        isReaderWaiting = false
        onReady()
    }

    /// Polls for bytes. Polling a pipe or a socket takes no lock that another process can hold.
    private func poll() {
        guard let stream, left > 0 else { return }
        step = .polling
        loop.setInterest(.readable, for: stream.raw, handler: self)
        guard blocks.isEmpty else { return }
        let timer = silenceTimer ?? Timer { [unowned self] in if case .polling = step { blocks.dropSpare() } }
        silenceTimer = timer
        loop.arm(timer, afterMilliseconds: DescriptorSource.silenceMilliseconds)
    }

    private func pausePolling() {
        step = .paused
        let timer =
            pollTimer
            ?? Timer { [unowned self] in
                step = .none
                poll()
            }
        pollTimer = timer
        loop.arm(timer, afterMilliseconds: DescriptorSource.pollPauseMilliseconds)
    }

    /// The descriptor is readable, or at its end.
    public func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        loop.forget(fd)
        step = .none
        hasReadNothing = true
        guard readiness.contains(.unwatched) else { return readAhead() }
        end = .failed(DescriptorSource.failure(loop.refusalCode))
        guard isReaderWaiting else { return }
        isReaderWaiting = false
        onReady()
    }

    private static func failure(_ code: Int32) -> TransportError {
        guard Shortage.isShortage(code) else {
            return TransportError(
                .requestBodyStreamExhausted, "the body's descriptor cannot be read", systemCode: code)
        }
        return TransportError(
            .resourceUnavailable, Shortage.explanation(of: code), systemCode: code, isRetryable: true)
    }

    /// Releases the descriptor, which is closed when no job reads it any more.
    public func close() {
        guard let stream else { return }
        loop.forget(stream.raw)
        for timer in [pollTimer, silenceTimer] { timer.map(loop.cancel) }
        self.stream = nil
        blocks.removeAll()
        onReady = {}
    }
}
