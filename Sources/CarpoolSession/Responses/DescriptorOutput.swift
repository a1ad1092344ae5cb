public import CarpoolSystem
internal import Glibc

/// Writes bytes to a descriptor that a client has passed: a pipe, a socket, a terminal or a file.
///
/// The loop only polls pipes and sockets; jobs of the worker write, and look at terminals. The bytes that wait are
/// bounded: ``isFull`` reports when the transfer has to wait, and ``onRoom`` when it may continue.
public final class DescriptorOutput: ReadinessHandler {
    /// The bytes that jobs write until all of them are written.
    ///
    /// `@unchecked Sendable` because one thread at a time uses it: the loop, then the job, then the loop.
    private final class Piece: @unchecked Sendable {
        var bytes: [UInt8] = []
        var start = 0
        var hash: SHA256Hash?

        var isEmpty: Bool { start == bytes.count }

        func write(to target: PassedOutput) -> IOResult {
            bytes.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[start...])
                let result = target.write(rest)
                if case .bytes(let count) = result {
                    hash?.update(UnsafeRawBufferPointer(rebasing: rest[..<count]))
                    start += count
                }
                return result
            }
        }
    }

    /// What a client wants of a descriptor.
    public struct Settings {
        /// A body of at most so many bytes, all of which arrive at once, is kept with the request instead.
        var inlineBytes = 0
        /// Whether the heads of the responses are written before the body: their length as eight hexadecimal digits and
        /// a line end, and then their bytes.
        public var writesHeads = false
        /// Whether the answers of a proxy to CONNECT are written before the heads: their length as eight hexadecimal
        /// digits, a blank, the number of the connection as sixteen of them, a line end, and then their bytes.
        public var writesConnectHeads = false
        /// Whether the body keeps its transfer coding (``TransportRequest/keepsTransferCoding``).
        public var keepsTransferCoding = false

        /// Makes settings.
        public init(inlineBytes: Int = 0, writesHeads: Bool = false, keepsTransferCoding: Bool = false) {
            self.inlineBytes = inlineBytes
            self.writesHeads = writesHeads
            self.keepsTransferCoding = keepsTransferCoding
        }
    }

    /// Called when there is room again after ``isFull`` was true.
    var onRoom: () -> Void = {}
    /// Called once when there is something to write and no descriptor; ``take(_:)`` brings it.
    public var onDemand: () -> Void = {}
    /// Called once when nothing can be written any more; at once if that is so already.
    var onFailure: (SystemError) -> Void = { _ in }
    /// How many bytes were written.
    private(set) var writtenBytes: Int64 = 0
    /// Why nothing more can be written: EPIPE if the reader has closed its end.
    private(set) var failure: SystemError?

    /// The descriptor; `nil` when it is closed, and before it was passed.
    private var target: PassedOutput?
    private var kind: PassedOutput.Kind
    /// What the client wants.
    public let settings: Settings
    private let loop: EventLoop
    private let worker: WorkerAccess
    private var memory: WriteMemory?
    private let piece = Piece()
    private var buffered: [UInt8] = []
    private var isWriting = false
    private var isPolling = false
    private var isClosed = false
    /// How many rounds of the turn's end are left until a discarded descriptor is closed; 0 if it is not discarded.
    private var roundsLeft = 0
    private var reportsRoom = false
    /// Whether nothing was written since the descriptor was ready.
    private var hasWrittenNothing = false
    private var pollTimer: Timer?
    private var watchTimer: Timer?
    /// The pause before the next attempt to write to a terminal, in milliseconds.
    private var terminalPause = 1
    private var flushCompletion: (() -> Void)?
    private var closeCompletions: [() -> Void] = []

    /// How long polling is suspended after a fruitless readiness, in milliseconds.
    private static let pollPauseMilliseconds = 10
    /// The longest pause between two attempts to write to a terminal that takes nothing, in milliseconds.
    private static let longestTerminalPause = 64
    /// How often a terminal to which nothing is written is looked at for a hang-up, in milliseconds.
    private static let watchMilliseconds = 250

    /// Takes over a descriptor. Without one, ``onDemand`` is called when there is something to write.
    public init(_ target: PassedOutput?, _ settings: Settings = Settings(), loop: EventLoop, worker: WorkerAccess) {
        self.settings = settings
        self.target = target
        kind = target?.kind ?? .pipe
        self.loop = loop
        self.worker = worker
    }

    deinit {
        forget()
        cancelTimers()
        memory?.change(by: -waitingBytes)
    }

    /// Whether the descriptor is still to be passed.
    public var isOnDemand: Bool { target == nil && !isClosed }

    /// Whether there is something to write, and no descriptor yet.
    public var needsDescriptor: Bool { target == nil && !isClosed && !buffered.isEmpty }

    /// Takes over the descriptor that ``onDemand`` has asked for.
    public func take(_ target: PassedOutput) {
        guard needsDescriptor else { return }
        self.target = target
        kind = target.kind
        write()
    }

    /// Calls the observer at the end of the turn.
    func afterTurn(_ observer: any TurnObserver) { loop.afterTurn(observer) }

    /// Whether writing may wait for a reader.
    public var mayWait: Bool { kind != .file }

    private var waitingBytes: Int { buffered.count + piece.bytes.count }

    /// Whether the transfer has to wait until bytes are written; ``onRoom`` follows if so.
    var isFull: Bool {
        guard let memory, waitingBytes >= memory.limit else { return false }
        reportsRoom = true
        return true
    }

    /// The SHA-256 of the bytes that were written, if ``begin(counting:isHashed:)`` asked for it.
    var hash: [UInt8]? { piece.hash?.finish() }

    /// Prepares for bytes, and watches for the end of the reader.
    func begin(counting memory: WriteMemory, isHashed: Bool) {
        self.memory = memory
        if isHashed, piece.hash == nil { piece.hash = SHA256Hash() }
        watch()
    }

    /// Appends bytes, which are written at once if nothing else is. After a failure they are dropped.
    func append(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil, !isClosed, !bytes.isEmpty else { return }
        let isFirst = buffered.isEmpty
        buffered.append(contentsOf: bytes)
        memory?.change(by: bytes.count)
        guard target != nil else {
            if isFirst { onDemand() }
            return
        }
        if !isWriting, !isPolling { write() }
    }

    /// Calls the body when everything is written, or nothing can be any more.
    func flush(_ then: @escaping () -> Void) {
        // While a job writes, the hash is the job's, and the number of bytes changes.
        guard isWriting || waitingBytes > 0 && failure == nil && !isClosed else { return then() }
        flushCompletion = then
    }

    /// Closes the descriptor, and drops what is not written. The completion is called when it is closed: then what was
    /// written does not change any more.
    func close(_ then: @escaping () -> Void) {
        guard target != nil else {
            isClosed = true
            dropBuffered()
            endFlush()
            return then()
        }
        guard roundsLeft == 0 else { return then() }
        closeCompletions.append(then)
        guard !isClosed else { return }
        forget()
        isClosed = true
        cancelTimers()
        isPolling = false
        if !isWriting { finishClosing() }
    }

    /// Closes the descriptor in the background, if nothing was written. The record is sent first, so that its reader
    /// wakes up once and not for the end of the descriptor before.
    func discard() {
        guard !isClosed, !isWriting, waitingBytes == 0 else { return close {} }
        forget()
        cancelTimers()
        isClosed = true
        guard target != nil else { return }
        // The connection may send the record later in the first round.
        roundsLeft = 2
        loop.afterTurn(self)
    }

    private func finishClosing() {
        dropBuffered()
        endFlush()
        guard let target else { return }
        worker.runAlways({ target.close() }, then: { [self] in didClose() })
    }

    private func didClose() {
        // Its number is free again, although the record of the request is kept.
        target = nil
        let completions = closeCompletions
        closeCompletions = []
        for completion in completions { completion() }
    }

    private func forget() {
        if kind.isPolled, !isClosed, let target { loop.forget(target.raw) }
    }

    private func cancelTimers() {
        for timer in [pollTimer, watchTimer].compactMap(\.self) { loop.cancel(timer) }
    }

    // MARK: Writing

    private func write() {
        if piece.isEmpty {
            piece.bytes.removeAll(keepingCapacity: true)
            piece.start = 0
            swap(&piece.bytes, &buffered)
        }
        guard !piece.isEmpty, let target else { return }
        isWriting = true
        // One job for each descriptor, so that their number is bounded.
        worker.runAlways({ [piece, target] in piece.write(to: target) }, then: { [weak self] in self?.didWrite($0) })
    }

    private func didWrite(_ result: IOResult) {
        isWriting = false
        if case .bytes(let count) = result { writtenBytes += Int64(count) }
        guard !isClosed else { return finishClosing() }
        if piece.isEmpty {
            memory?.change(by: -piece.bytes.count)
            piece.bytes.removeAll(keepingCapacity: true)
            piece.start = 0
        }
        switch result {
        // A terminal that was hung up.
        case .failed(EIO) where kind == .terminal: return fail(SystemError(code: EPIPE, operation: "write"))
        case .failed(let code): return fail(SystemError(code: code, operation: "write"))
        case .wouldBlock, .endOfFile: waitForRoom()
        case .bytes:
            (hasWrittenNothing, terminalPause) = (false, 1)
            write()
        }
        reportProgress()
    }

    private func reportProgress() {
        if waitingBytes == 0 {
            watch()
            endFlush()
        }
        guard reportsRoom, let memory, waitingBytes <= memory.limit / 2 else { return }
        reportsRoom = false
        onRoom()
    }

    private func fail(_ error: SystemError) {
        guard failure == nil else { return }
        failure = error
        forget()
        isPolling = false
        dropBuffered()
        onFailure(error)
        endFlush()
    }

    private func endFlush() {
        guard let then = flushCompletion else { return }
        flushCompletion = nil
        then()
    }

    private func dropBuffered() {
        memory?.change(by: -waitingBytes)
        buffered = []
        (piece.bytes, piece.start) = ([], 0)
    }

    // MARK: Polling

    private func waitForRoom() {
        switch kind {
        case .pipe, .socket: if hasWrittenNothing { pause(DescriptorOutput.pollPauseMilliseconds) } else { poll() }
        case .terminal:
            pause(terminalPause)
            terminalPause = min(2 * terminalPause, DescriptorOutput.longestTerminalPause)
        case .file: fail(SystemError(code: EAGAIN, operation: "write"))
        }
    }

    private func poll() {
        guard let target else { return }
        isPolling = true
        loop.setInterest(.writable, for: target.raw, handler: self)
    }

    private func pause(_ milliseconds: Int) {
        isPolling = true
        forget()
        let timer = pollTimer ?? Timer { [unowned self] in endPause() }
        pollTimer = timer
        loop.arm(timer, afterMilliseconds: milliseconds)
    }

    private func endPause() {
        if kind.isPolled { return poll() }
        isPolling = false
        write()
    }

    /// Waits for the end of the reader.
    private func watch() {
        guard let target, !isClosed, failure == nil, !isWriting, !isPolling else { return }
        if kind.isPolled { return loop.setInterest(.hangup, for: target.raw, handler: self) }
        guard kind == .terminal else { return }
        let timer = watchTimer ?? Timer { [unowned self] in look() }
        watchTimer = timer
        loop.arm(timer, afterMilliseconds: DescriptorOutput.watchMilliseconds)
    }

    /// Looks whether a terminal was hung up. A job that writes finds out itself.
    private func look() {
        guard let target, !isClosed, failure == nil, !isWriting, !isPolling else { return }
        worker.runAlways(
            { target.hasLostReader },
            then: { [weak self] isLost in
                guard let self, !isClosed, failure == nil, !isWriting else { return }
                if isLost { fail(SystemError(code: EPIPE, operation: "write")) } else { watch() }
            })
    }

    /// There is room, or the reader is gone.
    public func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        // An error that is not an end would be reported again and again.
        loop.forget(fd)
        // A job that writes finds out itself.
        guard let target, !isClosed, failure == nil, !isWriting else { return }
        if readiness.contains(.unwatched) { return fail(SystemError(code: loop.refusalCode, operation: "epoll_ctl")) }
        if target.hasLostReader { return fail(SystemError(code: EPIPE, operation: "write")) }
        guard isPolling else { return }
        isPolling = false
        hasWrittenNothing = true
        write()
    }
}

extension DescriptorOutput: TurnObserver {
    /// Closes a discarded descriptor once the record was sent.
    public func turnDidEnd() {
        roundsLeft -= 1
        if roundsLeft > 0 { loop.afterTurn(self) } else { target = nil }
    }
}
