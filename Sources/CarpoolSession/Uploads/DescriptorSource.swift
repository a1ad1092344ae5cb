public import CarpoolHTTP
public import CarpoolSystem
internal import Glibc

/// A body that comes out of a pipe or a socket while it is sent.
public final class DescriptorSource: BodySource, ReadinessHandler {
    /// How many bytes it will have, if whoever gave it has said so.
    public let lengthBytes: Int64?
    /// Called when a reader that waits may read on.
    public var onReady: () -> Void = {}
    private var descriptor: WorkerFile?
    /// Reads it, if it is a pipe; `nil` for a socket.
    private let pipe: PipeReader?
    private let loop: EventLoop
    private var hasBeenRead = false

    /// Takes over a descriptor; whether it is in blocking mode does not matter, and is not changed: the mode is shared with whoever passed it.
    public init(
        _ descriptor: WorkerFile, isSocket: Bool, lengthBytes: Int64?, loop: EventLoop
    ) {
        self.descriptor = descriptor
        pipe = isSocket ? nil : PipeReader()
        if isSocket { Bytes.keepUrgentInLine(descriptor.raw) }
        self.lengthBytes = lengthBytes
        self.loop = loop
    }

    deinit { close() }

    /// It may have to wait for whoever writes.
    public var mayWait: Bool { true }

    /// Only before the first byte: what was read is gone.
    public var canRestart: Bool { !hasBeenRead && descriptor != nil }

    /// Nothing has been read, so there is nothing to go back over.
    public func restart() {}

    /// Reads once.
    public func read(into room: UnsafeMutableRawBufferPointer) -> BodyReading {
        guard let raw = descriptor?.raw else {
            return .failed(TransportError(.requestBodyStreamExhausted, "the body's descriptor is closed"))
        }
        switch pipe?.read(raw, into: room) ?? receive(raw, into: room) {
        case .bytes(let count):
            hasBeenRead = true
            return .bytes(count)
        case .endOfFile: return .end
        case .wouldBlock:
            loop.setInterest(.readable, for: raw, handler: self)
            return .wait
        case .failed(let code):
            return .failed(
                TransportError(
                    .requestBodyStreamExhausted, "the body's descriptor cannot be read", systemCode: code))
        }
    }

    /// Reads once from a socket. Descriptors that come with the bytes (SCM_RIGHTS) would be closed by this thread otherwise, which may block.
    private func receive(_ raw: Int32, into room: UnsafeMutableRawBufferPointer) -> IOResult {
        var received: [Int32] = []
        let result = Bytes.receive(raw, into: room, descriptors: &received)
        descriptor?.close(received: received)
        return result
    }

    /// There is something to be read, or its end.
    public func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        loop.forget(fd)
        onReady()
    }

    /// Closes the descriptor: nobody reads any more.
    public func close() {
        guard let raw = descriptor?.raw else { return }
        loop.forget(raw)
        descriptor = nil
        onReady = {}
    }
}
