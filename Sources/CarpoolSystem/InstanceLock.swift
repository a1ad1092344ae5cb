internal import Glibc

/// The holder of a lock, as written in the lock file.
public struct LockHolder: Equatable, Sendable {
    /// The process.
    public let pid: Int32
    /// The socket that it serves.
    public let socketPath: String

    /// Makes a holder from its parts.
    public init(pid: Int32, socketPath: String) {
        self.pid = pid
        self.socketPath = socketPath
    }

    /// Reads the lock's text: the pid, a line feed, the socket's path, a line feed.
    init?(text: [UInt8]) {
        guard let end = text.firstIndex(of: UInt8(ascii: "\n")), text.last == UInt8(ascii: "\n"), end + 1 < text.count,
            let pid = Int32(String(decoding: text[..<end], as: UTF8.self)), pid > 0
        else { return nil }
        self.init(pid: pid, socketPath: String(decoding: text[(end + 1)..<(text.count - 1)], as: UTF8.self))
    }

    var text: String { "\(pid)\n\(socketPath)\n" }
}

/// The state of a lock.
public enum LockState: Equatable, Sendable {
    /// It is free.
    case free
    /// It is held; the holder is `nil` while it has not been written yet.
    case held(LockHolder?)
}

/// The result of ``InstanceLock/acquire(at:socketPath:)``.
public enum LockAcquisition: ~Copyable {
    /// This process has the lock until the value is released.
    case acquired(InstanceLock)
    /// Another daemon has it.
    case held(LockHolder?)
}

/// The lock of the only daemon of a user, or of a socket: flock(2) on a file, held for life, with the holder's pid
/// and socket inside.
///
/// The file is never deleted: a process that had opened it before would lock a file without a name. It is emptied
/// instead.
public struct InstanceLock: ~Copyable {
    private let file: FileDescriptor
    private let socketPath: String

    /// Maximum number of bytes read from a lock file: a pid and a path.
    private static let maximumBytes = 8192
    /// The number of retries for a lock without a living holder, and the pause between them in microseconds: a client
    /// may be reading it.
    private static let attempts = 40
    private static let pauseMicroseconds: UInt32 = 5_000

    private init(file: consuming FileDescriptor, socketPath: String) {
        self.file = file
        self.socketPath = socketPath
    }

    deinit { ftruncate(file.raw, 0) }

    /// Acquires the lock and writes this process and its socket into it, or returns the holder. The directory must
    /// exist.
    public static func acquire(at path: String, socketPath: String) throws(SystemError) -> LockAcquisition {
        let file = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        try checkOwner(of: file.raw, path)
        for attempt in 1...attempts {
            if flock(file.raw, LOCK_EX | LOCK_NB) == 0 { break }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .last("flock", path) }
            let holder = read(file.raw)
            if let holder, kill(holder.pid, 0) == 0 || errno == EPERM { return .held(holder) }
            if attempt == attempts { return .held(holder) }
            usleep(pauseMicroseconds)
        }
        let text = Array(LockHolder(pid: getpid(), socketPath: socketPath).text.utf8)
        guard ftruncate(file.raw, 0) == 0, pwrite(file.raw, text, text.count, 0) == text.count else {
            throw .last("write", path)
        }
        return .acquired(InstanceLock(file: file, socketPath: socketPath))
    }

    private static func checkOwner(of fd: Int32, _ path: String) throws(SystemError) {
        var info = stat()
        guard fstat(fd, &info) == 0 else { throw .last("fstat", path) }
        guard info.st_mode & S_IFMT == S_IFREG, info.st_uid == geteuid() else {
            throw SystemError(
                code: EPERM, operation: "flock", subject: path, advice: "it is not a regular file of uid \(geteuid())")
        }
    }

    /// Reads a lock without keeping it: how a client finds the daemon.
    public static func state(at path: String) throws(SystemError) -> LockState {
        let fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard fd >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return .free }
            throw .last("open", path)
        }
        let file = FileDescriptor(owning: fd)
        // Closing the file releases the shared lock at once; a daemon that starts at this moment tries again.
        if flock(file.raw, LOCK_SH | LOCK_NB) == 0 { return .free }
        return .held(read(file.raw))
    }

    private static func read(_ fd: Int32) -> LockHolder? {
        var bytes = [UInt8](repeating: 0, count: maximumBytes)
        let count = pread(fd, &bytes, bytes.count, 0)
        return count > 0 ? LockHolder(text: Array(bytes[..<count])) : nil
    }

    /// Deletes the socket of a daemon that was killed. Only the holder of the lock may do so, and only if no process
    /// listens; EADDRINUSE if one does, EEXIST if the file is not a socket of this user.
    public func removeStaleSocket() throws(SystemError) {
        var info = stat()
        guard lstat(socketPath, &info) == 0 else {
            if errno == ENOENT { return }
            throw .last("lstat", socketPath)
        }
        guard info.st_mode & S_IFMT == S_IFSOCK, info.st_uid == geteuid() else {
            throw SystemError(
                code: EEXIST, operation: "bind", subject: socketPath,
                advice: "the file is not a socket of uid \(geteuid())")
        }
        guard try UnixSocket.isAlive(socketPath) == false else {
            throw SystemError(
                code: EADDRINUSE, operation: "bind", subject: socketPath,
                advice: "another program listens on this socket")
        }
        guard unlink(socketPath) == 0 || errno == ENOENT else { throw .last("unlink", socketPath) }
    }
}
