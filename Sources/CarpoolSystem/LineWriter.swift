internal import CLinux
internal import Glibc
internal import Synchronization

/// Writes lines to a descriptor on a thread of its own, so that its caller never waits: the descriptor may be a pipe
/// that is not read, or a file on a disk that stalls. Lines that do not fit the queue are dropped and counted, and a
/// line reports the number once writing resumes.
///
/// The queue is a ring of bytes without a lock, which one thread fills and the other one empties.
///
/// `@unchecked Sendable` because one thread, the caller's, writes lines and has `hasThread`, and each byte of the ring
/// belongs to the thread to which the counters assign it.
public final class LineWriter: @unchecked Sendable {
    private let ring = UnsafeMutableRawBufferPointer.allocate(byteCount: LineWriter.capacity, alignment: 1)
    /// Bytes that were queued, that the thread has taken from the ring, and that it has written, since the beginning.
    private let queued = Atomic<Int>(0)
    private let taken = Atomic<Int>(0)
    private let finished = Atomic<Int>(0)
    /// Lines dropped since the last note, and since the beginning.
    private let notNoted = Atomic<Int>(0)
    private let allDropped = Atomic<Int>(0)
    private var hasThread = false
    private let target: Int32
    private let wake: Int32
    private let done: Int32
    private let note: @Sendable (Int) -> String

    /// Size of the queue: some thousand lines.
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

    // Only without a thread, which holds a reference.
    deinit { ring.deallocate() }

    /// The number of dropped lines.
    public var dropped: Int { allDropped.load(ordering: .relaxed) }

    /// Queues a line, which ends with a line feed. Always called by the same thread.
    public func write(_ line: String) {
        if !hasThread { hasThread = start() }
        let begin = queued.load(ordering: .relaxed)
        let room = LineWriter.capacity - (begin - taken.load(ordering: .acquiring))
        var line = line
        let count = line.utf8.count
        guard hasThread, count <= room else { return drop(queued: begin) }
        line.withUTF8 { copy(UnsafeRawBufferPointer($0), to: begin) }
        // The order of these two, and of their counterparts in `take`: one of the threads sees what the other has done.
        queued.store(begin + count, ordering: .sequentiallyConsistent)
        if taken.load(ordering: .sequentiallyConsistent) == begin { LineWriter.signal(wake) }
    }

    /// Counts a line that is dropped.
    private func drop(queued: Int) {
        allDropped.add(1, ordering: .relaxed)
        // Ordered as the two in `write`. The thread may have emptied the ring meanwhile, and waits for a line then.
        notNoted.add(1, ordering: .sequentiallyConsistent)
        if taken.load(ordering: .sequentiallyConsistent) == queued { LineWriter.signal(wake) }
    }

    /// Copies bytes into the ring.
    private func copy(_ bytes: UnsafeRawBufferPointer, to position: Int) {
        let start = position % LineWriter.capacity
        let first = min(bytes.count, LineWriter.capacity - start)
        UnsafeMutableRawBufferPointer(rebasing: ring[start...]).copyMemory(from: .init(rebasing: bytes[..<first]))
        ring.copyMemory(from: .init(rebasing: bytes[first...]))
    }

    /// Waits until all lines are written, or until the timeout. For the end of the program.
    public func flush(milliseconds: Int) {
        let deadline = MonotonicTime.read().advanced(milliseconds: milliseconds)
        while finished.load(ordering: .acquiring) < queued.load(ordering: .relaxed) {
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
            while let lines = take() {
                write(lines)
                finished.store(taken.load(ordering: .relaxed), ordering: .releasing)
            }
            LineWriter.signal(done)
        }
    }

    /// All waiting lines, followed by the note about dropped ones; nil if there is nothing to write.
    private func take() -> [UInt8]? {
        let begin = taken.load(ordering: .relaxed)
        // Before the end of the lines is read: the note comes behind all that were queued before the dropped ones.
        let dropped = notNoted.exchange(0, ordering: .sequentiallyConsistent)
        guard dropped > 0 || queued.load(ordering: .sequentiallyConsistent) > begin else { return nil }
        let end = queued.load(ordering: .acquiring)
        let start = begin % LineWriter.capacity
        let first = min(end - begin, LineWriter.capacity - start)
        let lines = Array(ring[start..<start + first]) + Array(ring[..<(end - begin - first)])
        taken.store(end, ordering: .sequentiallyConsistent)
        return dropped == 0 ? lines : lines + Array(note(dropped).utf8)
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
