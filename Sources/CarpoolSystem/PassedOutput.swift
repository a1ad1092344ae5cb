internal import CLinux
internal import Glibc

/// A descriptor that a client has passed to be written to, for the jobs of a ``Worker``. Writing takes the object's
/// lock, which another process may hold for any time, and a file or a terminal may block: neither is for the loop. The
/// mode of the descriptor is shared with the client, and is not changed.
///
/// `@unchecked Sendable` because one job at a time writes; the loop only uses ``raw`` and ``kind``.
public final class PassedOutput: @unchecked Sendable {
    /// What a descriptor is.
    public enum Kind: Sendable {
        /// Written without waiting; the loop polls it.
        case pipe
        /// Written without waiting; the loop polls it.
        case socket
        /// Written without waiting, since it was opened again (``PassedTerminal``). Not polled by the loop: polling a
        /// terminal waits until its input is processed, and for changes of its line discipline (tty_ldisc(4)).
        case terminal
        /// A regular file, or a device without a queue such as /dev/null, at the position that its users share.
        case file

        /// Whether the loop can poll it.
        public var isPolled: Bool { self == .pipe || self == .socket }
    }

    /// What the descriptor is.
    public let kind: Kind
    private let file: WorkerFile
    private let pipe: PipeWriter?

    /// Takes the place of a descriptor that is closed before its number is free.
    private static let nothing = Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)

    /// Takes over a descriptor.
    public init(_ file: WorkerFile, _ kind: Kind) {
        self.file = file
        self.kind = kind
        pipe = kind == .pipe ? PipeWriter() : nil
    }

    /// The number, to be polled; valid as long as this object is referenced.
    public var raw: Int32 { file.raw }

    /// Writes as many bytes as there is room for. May block: for a thread of a ``Worker``. The next call passes the
    /// bytes that follow.
    public func write(_ buffer: UnsafeRawBufferPointer) -> IOResult {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
            switch writeOnce(rest) {
            case .bytes(let count): done += count
            case let result: return done > 0 ? .bytes(done) : result
            }
        }
        return .bytes(done)
    }

    private func writeOnce(_ buffer: UnsafeRawBufferPointer) -> IOResult {
        if let pipe { return pipe.write(file.raw, buffer) }
        return kind == .socket ? Bytes.sendWithoutWaiting(file.raw, buffer) : Bytes.write(file.raw, buffer)
    }

    /// Closes the descriptor: its reader sees the end when this returns. Nothing can be written afterwards.
    public func close() {
        guard PassedOutput.nothing >= 0 else { return }
        _ = CLinux_replace(file.raw, PassedOutput.nothing)
    }

    /// Whether the reader has closed its end. Does not block, unless it is a terminal: then it is for a thread of a
    /// ``Worker``.
    public var hasLostReader: Bool {
        var state = pollfd(fd: file.raw, events: 0, revents: 0)
        guard poll(&state, 1, 0) > 0 else { return false }
        let events = Int32(state.revents)
        return events & Int32(POLLHUP) != 0 || kind == .pipe && events & Int32(POLLERR) != 0
    }
}
