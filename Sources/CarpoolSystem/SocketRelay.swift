internal import Glibc

/// Moves bytes in both directions between a socket that a client has passed and a socket of this process, so that a
/// library can use the latter on the loop.
///
/// The client shares the passed socket: it can switch it to blocking mode, and hold its lock for any time. So the loop
/// only polls it, and jobs of a ``Worker`` read and write it.
public final class SocketRelay: ReadinessHandler {
    /// A direction, and what the loop waits for before its next job.
    private final class Direction {
        enum Step {
            case running
            case waitingForSource
            case waitingForSink
            /// The socket was ready without effect, so that it is not polled for a while.
            case paused
            case over
        }

        let mover: ByteMover
        var step = Step.waitingForSource

        init(_ mover: ByteMover) { self.mover = mover }
    }

    private let passed: WorkerFile
    private let own: OwnEnd
    private let loop: EventLoop
    private let worker: WorkerAccess
    private let inbound: Direction
    private let outbound: Direction
    private var isEnding = false
    private var timer: Timer?
    /// The `errno` with which reading the passed socket has failed: the other end reads the same end as if its peer had
    /// closed it.
    public private(set) var failure: Int32?

    /// How long a socket is not polled that was ready without effect, in milliseconds.
    private static let pauseMilliseconds = 10

    /// Starts moving the bytes of a passed socket; `nil` with `errno` if there are no more descriptors.
    /// - Returns: the relay, and the other end, a non-blocking Unix socket that the caller closes before or after
    ///   ``end()``.
    public static func start(
        _ passed: WorkerFile, loop: EventLoop, worker: WorkerAccess
    ) -> (relay: SocketRelay, descriptor: Int32)? {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        let relay = SocketRelay(passed, OwnEnd(owning: ends[0]), loop, worker)
        relay.poll()
        return (relay, ends[1])
    }

    private init(_ passed: WorkerFile, _ own: OwnEnd, _ loop: EventLoop, _ worker: WorkerAccess) {
        self.passed = passed
        self.own = own
        self.loop = loop
        self.worker = worker
        inbound = Direction(ByteMover(from: passed.raw, to: own.raw))
        outbound = Direction(ByteMover(from: own.raw, to: passed.raw))
    }

    /// Ends the relay, because the other end is being closed: what was written there is still sent as far as the passed
    /// socket takes it at once.
    public func end() {
        guard !isEnding else { return }
        isEnding = true
        loop.forget(passed.raw)
        loop.forget(own.raw)
        if let timer { loop.cancel(timer) }
        timer = nil
        if outbound.step != .running, outbound.step != .over { run(outbound) }
    }

    // MARK: Jobs

    private func run(_ direction: Direction) {
        direction.step = .running
        worker.runAlways { [mover = direction.mover, passed, own] in
            withExtendedLifetime((passed, own)) { mover.move() }
        } then: { [self] result in
            didMove(direction, result)
        }
    }

    private func didMove(_ direction: Direction, _ result: ByteMover.Result) {
        if case .more = result, !isEnding || direction === outbound { return run(direction) }
        guard !isEnding else {
            // What was written before the end, but after the job has read.
            if direction === outbound, result.hasMoved { run(direction) } else { direction.step = .over }
            return
        }
        switch result {
        case .more: break
        case .needsSource(let hasMoved): direction.step = hasMoved ? .waitingForSource : .paused
        case .needsSink(let hasMoved): direction.step = hasMoved ? .waitingForSink : .paused
        case .ended(let code):
            direction.step = .over
            if direction === inbound { failure = code }
            // The peer in this process reads the end after the last byte, or can write no more.
            shutdown(own.raw, Int32(direction === inbound ? SHUT_WR : SHUT_RD))
        }
        if direction.step == .paused { pause() }
        poll()
    }

    private func pause() {
        let timer = timer ?? Timer { [weak self] in self?.endPause() }
        self.timer = timer
        if !timer.isArmed { loop.arm(timer, afterMilliseconds: SocketRelay.pauseMilliseconds) }
    }

    private func endPause() {
        for direction in [inbound, outbound] where direction.step == .paused {
            direction.step = direction.mover.isEmpty ? .waitingForSource : .waitingForSink
        }
        poll()
    }

    // MARK: Polling

    private func poll() {
        poll(passed.raw, reading: inbound, writing: outbound)
        poll(own.raw, reading: outbound, writing: inbound)
    }

    private func poll(_ descriptor: Int32, reading: Direction, writing: Direction) {
        var interest: Interest = []
        if reading.step == .waitingForSource { interest.insert(.readable) }
        if writing.step == .waitingForSink { interest.insert(.writable) }
        // The end of a connection is reported whatever the interest.
        guard !interest.isEmpty else { return loop.forget(descriptor) }
        loop.setInterest(interest, for: descriptor, handler: self)
    }

    /// A socket is ready, or its connection has ended.
    public func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        guard !isEnding else { return }
        let (reading, writing) = fd == passed.raw ? (inbound, outbound) : (outbound, inbound)
        // What cannot be watched is tried from time to time.
        let hasFailed = !readiness.isDisjoint(with: [.failed, .unwatched])
        if reading.step == .waitingForSource, hasFailed || readiness.contains(.readable) { run(reading) }
        if writing.step == .waitingForSink, hasFailed || readiness.contains(.writable) { run(writing) }
        poll()
    }
}

/// The relay's end of its pair of sockets, closed with the last reference: nothing else has it, so that closing it does
/// not wait.
private final class OwnEnd: Sendable {
    let raw: Int32

    init(owning raw: Int32) { self.raw = raw }

    deinit { close(raw) }
}

/// Moves bytes from one socket to another, and keeps those that the second one does not take.
///
/// `@unchecked Sendable` because either one job or the loop has it.
private final class ByteMover: @unchecked Sendable {
    /// What the next move needs.
    enum Result {
        /// Nothing: there may be more bytes.
        case more
        /// Bytes to read. `hasMoved` is whether there were any before.
        case needsSource(hasMoved: Bool)
        /// Room to write. `hasMoved` is whether there was any before.
        case needsSink(hasMoved: Bool)
        /// The source has ended, or one of the two has failed; with `errno` if it was the source.
        case ended(Int32?)

        var hasMoved: Bool {
            switch self {
            case .more: true
            case .needsSource(let hasMoved), .needsSink(let hasMoved): hasMoved
            case .ended: false
            }
        }
    }

    private let source: Int32
    private let sink: Int32
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteMover.bufferBytes, alignment: 16)
    private var kept = 0..<0

    private static let bufferBytes = 65_536
    /// The most buffers that one job moves, so that others have their turn.
    private static let buffersPerMove = 16

    init(from source: Int32, to sink: Int32) {
        self.source = source
        self.sink = sink
    }

    deinit { buffer.deallocate() }

    /// Whether all bytes that were read are written.
    var isEmpty: Bool { kept.isEmpty }

    /// Moves what can be moved without waiting for bytes or for room. May wait for a socket's lock: for a thread of a
    /// ``Worker``.
    func move() -> Result {
        var hasMoved = false
        for _ in 0..<ByteMover.buffersPerMove {
            if kept.isEmpty {
                switch Bytes.receive(source, into: buffer) {
                case .bytes(let count): kept = 0..<count
                case .wouldBlock: return .needsSource(hasMoved: hasMoved)
                case .endOfFile: return .ended(nil)
                case .failed(let code): return .ended(code)
                }
                hasMoved = true
            }
            switch Bytes.sendWithoutWaiting(sink, UnsafeRawBufferPointer(rebasing: buffer[kept])) {
            case .bytes(let count): kept = kept.lowerBound + count..<kept.upperBound
            case .wouldBlock: return .needsSink(hasMoved: hasMoved)
            case .endOfFile, .failed: return .ended(nil)
            }
            hasMoved = true
        }
        return .more
    }
}
