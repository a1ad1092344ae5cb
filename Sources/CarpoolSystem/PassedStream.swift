internal import Glibc

/// A pipe or a socket that a client has passed, for the jobs of a ``Worker`` that read it. A read returns at once if
/// there are no bytes, but takes the object's lock, which another process may hold for any time: it must not run on the
/// loop.
///
/// `@unchecked Sendable` because one job at a time reads; the loop only uses ``raw``.
public final class PassedStream: @unchecked Sendable {
    private let file: WorkerFile
    /// Reads it, if it is a pipe; `nil` for a socket.
    private let pipe: PipeReader?

    /// Takes over a descriptor; whether it is in blocking mode does not matter, and is not changed: the mode is
    /// shared with the client.
    public init(_ file: WorkerFile, isSocket: Bool) {
        self.file = file
        pipe = isSocket ? nil : PipeReader()
    }

    /// The number, to be polled; valid as long as this object is referenced.
    public var raw: Int32 { file.raw }

    /// Reads available bytes, as many as fit. May block: for a thread of a ``Worker``. Descriptors that come with the
    /// bytes of a Unix socket (SCM_RIGHTS) are not received: the kernel closes them, which may block too.
    public func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        if let pipe { return PassedStream.drain(pipe, file.raw, into: buffer) }
        return Bytes.receive(file.raw, into: buffer)
    }

    /// Reads until the pipe is empty, the buffer is full or a packet may not fit any more (O_DIRECT, pipe(2)): a pipe
    /// is small, so the writer refills it meanwhile. An end or error after some bytes is reported by the next call.
    private static func drain(
        _ pipe: PipeReader, _ raw: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) -> IOResult {
        var done = 0
        repeat {
            switch pipe.read(raw, into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...])) {
            case .bytes(let count): done += count
            case let result: return done > 0 ? .bytes(done) : result
            }
        } while buffer.count - done >= Int(PIPE_BUF)
        return .bytes(done)
    }
}
