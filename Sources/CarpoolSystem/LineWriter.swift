internal import CLinux
internal import Glibc
internal import Synchronization

/// Writes lines to a descriptor on a thread of its own, so that its callers never block: the descriptor may be a pipe
/// that is not read, or a file on a disk that stalls. Lines that do not fit the queue are dropped and counted, and a
/// line reports the number once writing resumes.
///
/// `@unchecked Sendable` because its only members are the queue, which has a lock, and immutable fields.
public final class LineWriter: @unchecked Sendable {
    private struct Queue: ~Copyable {
        var bytes: [UInt8] = []
        /// Lines dropped since the last note, and since the beginning.
        var dropped = 0
        var allDropped = 0
        var hasThread = false
        /// Whether the thread has taken lines that it has not written yet.
        var isWriting = false
    }

    private let queue = Mutex(Queue())
    private let target: Int32
    private let wake: Int32
    private let done: Int32
    private let note: @Sendable (Int) -> String

    /// Maximum size of the queue: some thousand lines.
    public static let capacity = 262_144
    /// Lines are written in pieces that a pipe accepts atomically (pipe(7), PIPE_BUF), so that they do not mix with
    /// those of other processes.
    private static let pieceBytes = 4_096
    private static let stackBytes = 131_072

    /// A writer for a descriptor that stays open; its thread starts with the first line.
    /// - Parameter note: makes the line with the number of dropped lines.
    public init(_ target: Int32, note: @escaping @Sendable (Int) -> String) {
        self.target = target
        self.note = note
        wake = eventfd(0, Int32(EFD_CLOEXEC))
        done = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    }

    /// The number of dropped lines.
    public var dropped: Int { queue.withLock { $0.allDropped } }

    /// Queues a line, which ends with a line feed.
    public func write(_ line: String) {
        var line = line
        let mustWake = queue.withLock { queue in
            if !queue.hasThread { queue.hasThread = start() }
            guard queue.hasThread, queue.bytes.count + line.utf8.count <= LineWriter.capacity else {
                queue.dropped += 1
                queue.allDropped += 1
                return false
            }
            let isFirst = queue.bytes.isEmpty
            line.withUTF8 { queue.bytes.append(contentsOf: $0) }
            return isFirst && !queue.isWriting
        }
        if mustWake { LineWriter.signal(wake) }
    }

    /// Waits until all lines are written, or until the timeout. For the end of the program.
    public func flush(milliseconds: Int) {
        let deadline = MonotonicTime.read().advanced(milliseconds: milliseconds)
        while queue.withLock({ $0.isWriting || !$0.bytes.isEmpty }) {
            guard deadline.waitForInput(done) else { return }
            LineWriter.drain(done)
        }
    }

    // MARK: The thread

    /// Starts the thread, which takes no signal: they belong to the loop.
    private func start() -> Bool {
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, LineWriter.stackBytes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                if let argument { Unmanaged<LineWriter>.fromOpaque(argument).takeUnretainedValue().run() }
                return nil
            }, argument.toOpaque())
        if code != 0 { argument.release() }
        return code == 0
    }

    private func run() {
        while true {
            LineWriter.drain(wake)
            while let lines = take() { write(lines) }
            LineWriter.signal(done)
        }
    }

    /// All waiting lines, followed by the note about dropped ones; nil if there are none.
    private func take() -> [UInt8]? {
        var dropped = 0
        let lines: [UInt8]? = queue.withLock { queue in
            queue.isWriting = !queue.bytes.isEmpty
            guard queue.isWriting else { return nil }
            dropped = queue.dropped
            queue.dropped = 0
            let lines = queue.bytes
            queue.bytes = []
            return lines
        }
        return lines.map { dropped == 0 ? $0 : $0 + Array(note(dropped).utf8) }
    }

    private func write(_ lines: [UInt8]) {
        lines.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                var end = min(bytes.count, start + LineWriter.pieceBytes)
                // Up to the end of the last whole line; a line that is longer than a piece is written alone.
                if end < bytes.count, let last = bytes[start..<end].lastIndex(of: 0x0A) { end = last + 1 }
                guard write(UnsafeRawBufferPointer(rebasing: bytes[start..<end])) else { return }
                start = end
            }
        }
    }

    /// Writes a piece, and blocks until it is written; false if it cannot be written.
    private func write(_ piece: UnsafeRawBufferPointer) -> Bool {
        var written = 0
        while written < piece.count {
            let count = Glibc.write(target, piece.baseAddress.map { $0 + written }, piece.count - written)
            if count > 0 {
                written += count
            } else if count < 0, errno == EAGAIN {
                // Another process that shares the descriptor has made it non-blocking.
                var entry = pollfd(fd: target, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, -1)
            } else if count == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }

    private static func signal(_ fd: Int32) {
        var one: UInt64 = 1
        _ = Glibc.write(fd, &one, 8)
    }

    private static func drain(_ fd: Int32) {
        var count: UInt64 = 0
        _ = read(fd, &count, 8)
    }
}
