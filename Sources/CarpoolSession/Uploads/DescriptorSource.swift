public import CarpoolHTTP
public import CarpoolSystem

/// A body that comes out of a pipe or a socket while it is sent. The loop only polls the descriptor: jobs of the worker read it, since
/// another process that has it may hold its lock.
public final class DescriptorSource: BodySource, ReadinessHandler {
    /// What happens with the descriptor.
    private enum Step {
        case none
        /// A job reads.
        case reading
        /// The loop waits for bytes.
        case polling
        /// The loop was told of bytes that were not there, and does not ask for a while.
        case resting
    }

    /// How many bytes it will have, if whoever gave it has said so.
    public let lengthBytes: Int64?
    /// Called when a reader that waits may read on.
    public var onReady: () -> Void = {}
    /// Open until ``close()``; a job that reads keeps it open until it returns.
    private var stream: PassedStream?
    private let loop: EventLoop
    private let worker: WorkerAccess
    private var step = Step.none
    private var blocks = ReadAheadBlocks()
    /// How many bytes were read; of these some may be in the blocks.
    private var readBytes: Int64 = 0
    /// What follows the last byte that was read, if nothing more is read.
    private var end: BodyReading?
    private var isAwaited = false
    private var hasHandedOut = false
    /// Whether nothing was read since the loop was last told of bytes.
    private var isFruitless = false
    /// Ends a rest; made when first needed.
    private var rest: Timer?
    /// Frees the buffer of a source that stays silent; made when first needed.
    private var silence: Timer?

    /// A buffer's size: as for files.
    private static let blockBytes: Int64 = 262_144
    /// A read of so many bytes, which is what a pipe holds unless its owner has asked for more, leaves more behind as a rule.
    private static let largeReadBytes = 65_536

    /// How long a descriptor rests that is ready and has nothing to read, in milliseconds: a socket with an error report that no process fetches
    /// (MSG_ERRQUEUE), or one for datagrams that was shut down, is so for good.
    private static let restMilliseconds = 10
    /// After how long a silent source keeps no buffer, in milliseconds: the number of those that wait is not bounded by transfers under way.
    private static let silenceMilliseconds = 100

    /// Takes over a descriptor.
    public init(
        _ descriptor: WorkerFile, isSocket: Bool, lengthBytes: Int64?, loop: EventLoop, worker: WorkerAccess
    ) {
        stream = PassedStream(descriptor, isSocket: isSocket)
        self.lengthBytes = lengthBytes
        self.loop = loop
        self.worker = worker
    }

    deinit { close() }

    /// It may have to wait for whoever writes.
    public var mayWait: Bool { true }

    /// Only before the first byte is handed out: what was taken is gone.
    public var canRestart: Bool { !hasHandedOut && stream != nil }

    /// Nothing was handed out, so there is nothing to go back over.
    public func restart() { isAwaited = false }

    /// Copies what jobs have read.
    public func read(into room: UnsafeMutableRawBufferPointer) -> BodyReading {
        guard stream != nil else {
            return .failed(TransportError(.requestBodyStreamExhausted, "the body's descriptor is closed"))
        }
        if let count = blocks.take(into: room) {
            hasHandedOut = true
            if left > 0, end == nil { readAhead() } else { blocks.dropSpare() }
            return .bytes(count)
        }
        if let end { return end }
        guard left > 0 else { return .end }
        isAwaited = true
        readAhead()
        return .wait
    }

    /// How many bytes more may be read: what stands behind the body is the caller's.
    private var left: Int64 { lengthBytes.map { $0 - readBytes } ?? .max }

    private func readAhead() {
        guard let stream, case .none = step, end == nil, left > 0, !blocks.isFull else { return }
        let count = Int(min(DescriptorSource.blockBytes, left))
        let block = blocks.empty(bytes: count)
        step = .reading
        // One job for each descriptor, so that their number is bounded.
        worker.runAlways {
            stream.read(into: UnsafeMutableRawBufferPointer(rebasing: block.room[..<count]))
        } then: { [weak self] result in
            self?.didRead(result, block)
        }
    }

    private func didRead(_ result: IOResult, _ block: ReadAheadBlocks.Block) {
        guard stream != nil else { return }
        step = .none
        if case .bytes(let count) = result {
            block.count = count
            isFruitless = false
        }
        readBytes += Int64(block.count)
        blocks.append(block)
        switch result {
        case .bytes(let count) where count >= DescriptorSource.largeReadBytes: readAhead()
        case .bytes: poll()
        case .wouldBlock: if isFruitless { takeRest() } else { poll() }
        case .endOfFile: end = .end
        case .failed(let code):
            end = .failed(
                TransportError(
                    .requestBodyStreamExhausted, "the body's descriptor cannot be read", systemCode: code))
        }
        guard isAwaited, !blocks.isEmpty || end != nil else { return }
        isAwaited = false
        onReady()
    }

    /// Waits for bytes. To poll a pipe or a socket takes no lock that another process can hold.
    private func poll() {
        guard let stream, left > 0 else { return }
        step = .polling
        loop.setInterest(.readable, for: stream.raw, handler: self)
        guard blocks.isEmpty else { return }
        let timer = silence ?? Timer { [unowned self] in if case .polling = step { blocks.dropSpare() } }
        silence = timer
        loop.arm(timer, afterMilliseconds: DescriptorSource.silenceMilliseconds)
    }

    private func takeRest() {
        step = .resting
        let timer =
            rest
            ?? Timer { [unowned self] in
                step = .none
                poll()
            }
        rest = timer
        loop.arm(timer, afterMilliseconds: DescriptorSource.restMilliseconds)
    }

    /// There is something to be read, or its end.
    public func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        loop.forget(fd)
        step = .none
        isFruitless = true
        readAhead()
    }

    /// Lets go of the descriptor, which is closed when no job reads it any more.
    public func close() {
        guard let stream else { return }
        loop.forget(stream.raw)
        for timer in [rest, silence] { timer.map(loop.cancel) }
        self.stream = nil
        blocks.removeAll()
        onReady = {}
    }
}
