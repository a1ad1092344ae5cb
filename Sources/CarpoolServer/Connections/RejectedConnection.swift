internal import CarpoolSystem

/// A peer that is rejected: it gets one line with the reason, and its input is read and dropped until it closes or a
/// second has passed. If the socket were closed at once, the peer's write could fail before it has read the line.
final class RejectedConnection: ReadinessHandler {
    /// Closed by the worker, as are the descriptors that the peer passes: closing may block.
    private let file: WorkerFile
    private let worker: WorkerAccess
    private let loop: EventLoop
    private let buffer: (_ body: (UnsafeMutableRawBufferPointer) -> IOResult) -> IOResult
    private let onEnd: (RejectedConnection) -> Void
    private lazy var deadline = Timer { [unowned self] in end() }

    private static let milliseconds = 1_000

    /// Takes ownership of the descriptor, sends the line and waits for the peer to close.
    /// - Parameters:
    ///   - line: fits the socket's empty buffer.
    ///   - buffer: lends memory to read into.
    ///   - onEnd: called once, when the peer has gone or the time is over.
    init(
        _ fd: consuming FileDescriptor, line: [UInt8], worker: WorkerAccess, loop: EventLoop,
        buffer: @escaping (_ body: (UnsafeMutableRawBufferPointer) -> IOResult) -> IOResult,
        onEnd: @escaping (RejectedConnection) -> Void
    ) {
        file = WorkerFile(fd, closer: worker.closerOfPassed)
        self.worker = worker
        self.loop = loop
        self.buffer = buffer
        self.onEnd = onEnd
        _ = line.withUnsafeBytes { Bytes.send(file.raw, $0) }
        UnixSocket.shutdownWriting(file.raw)
        loop.setInterest(.readable, for: file.raw, handler: self)
        loop.arm(deadline, afterMilliseconds: RejectedConnection.milliseconds)
    }

    func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        var came: [Int32] = []
        let result = buffer { Bytes.receive(fd, into: $0, descriptors: &came) }
        guard came.isEmpty else {
            // Closing once is enough: the peer may send descriptors faster than they close.
            worker.worker.close(came.filter { $0 >= 0 }, for: worker.share, then: {})
            return end()
        }
        switch result {
        case .bytes, .wouldBlock: if !readiness.isDisjoint(with: [.failed, .unwatched]) { end() }
        case .endOfFile, .failed: end()
        }
    }

    private func end() {
        loop.cancel(deadline)
        loop.forget(file.raw)
        onEnd(self)
    }
}
