internal import CLinux
internal import Glibc
internal import Synchronization

/// Who can connect to a socket in the file system; the credentials of the peer are checked in any case.
public enum SocketAudience: Sendable {
    /// The owner and root: directory 0700, socket 0600.
    case owner
    /// All users, because the configuration lists others than the owner: directory 0755, socket 0666.
    case everyone

    var directoryMode: UInt32 { self == .owner ? 0o700 : 0o755 }
    var socketMode: UInt32 { self == .owner ? 0o600 : 0o666 }
}

/// The result of accept(2).
public enum AcceptResult: ~Copyable {
    /// A peer: its descriptor does not block and is closed on exec.
    case accepted(FileDescriptor)
    /// No peer is waiting.
    case wouldBlock
    /// The call failed with this `errno`.
    case failed(Int32)
}

/// Stream sockets in the file system.
public enum UnixSocket {
    /// The longest path of a socket in bytes: sockaddr_un holds 108 with the terminating zero (unix(7)).
    public static let maximumPathBytes = 107

    /// Maximum number of peers waiting to be accepted; the kernel lowers it to net.core.somaxconn.
    private static let backlog: Int32 = 4096
    /// Held while the process's umask is changed, which all threads share.
    private static let mask = Mutex(())

    /// Binds and listens. Nothing may exist at the path. The descriptor does not block and is closed on exec.
    public static func listen(
        at path: String, for audience: SocketAudience = .owner
    ) throws(SystemError) -> FileDescriptor {
        let address = try UnixAddress(path: path, operation: "bind")
        let socket = try make("bind", path, flags: Int32(SOCK_NONBLOCK.rawValue))
        // The mode is there from the first moment on: a chmod afterwards would leave a gap.
        let bindError = mask.withLock { _ in
            let former = umask(~audience.socketMode & 0o777)
            defer { umask(former) }
            return address.withPointer { Glibc.bind(socket.raw, $0, $1) } == 0 ? 0 : errno
        }
        guard bindError == 0 else { throw SystemError(code: bindError, operation: "bind", subject: path) }
        try check(path, mode: audience.socketMode)
        guard Glibc.listen(socket.raw, backlog) == 0 else { throw .last("listen", path) }
        return socket
    }

    /// Checks that the file is the socket that was just bound, and was not replaced.
    private static func check(_ path: String, mode: UInt32) throws(SystemError) {
        var info = stat()
        guard lstat(path, &info) == 0 else { throw .last("lstat", path) }
        guard info.st_mode & S_IFMT == S_IFSOCK, info.st_uid == geteuid(), info.st_mode & 0o777 == mode else {
            throw SystemError(
                code: EPERM, operation: "bind", subject: path,
                advice: "the file is not the socket that was created: its owner or mode differs")
        }
    }

    /// Connects, waiting while the listener's queue is full. The error's code is ENOENT (no socket), ECONNREFUSED (no
    /// listener) or EACCES (not permitted).
    public static func connect(to path: String) throws(SystemError) -> FileDescriptor {
        let address = try UnixAddress(path: path, operation: "connect")
        let socket = try make("connect", path, flags: 0)
        while address.withPointer({ Glibc.connect(socket.raw, $0, $1) }) != 0 {
            guard errno == EINTR else { throw .last("connect", path) }
        }
        return socket
    }

    /// Whether a process listens; `nil` if unknown. Never waits.
    static func isAlive(_ path: String) throws(SystemError) -> Bool? {
        let address = try UnixAddress(path: path, operation: "connect")
        let socket = try make("connect", path, flags: Int32(SOCK_NONBLOCK.rawValue))
        if address.withPointer({ Glibc.connect(socket.raw, $0, $1) }) == 0 { return true }
        switch errno {
        case EAGAIN: return true
        case ECONNREFUSED, ENOENT: return false
        default: return nil
        }
    }

    private static func make(_ operation: String, _ path: String, flags: Int32) throws(SystemError) -> FileDescriptor {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | flags
        let fd = socket(AF_UNIX, type, 0)
        guard fd >= 0 else { throw .last("socket", path) }
        return FileDescriptor(owning: fd)
    }

    /// Takes the next waiting peer.
    public static func accept(_ listener: Int32) -> AcceptResult {
        while true {
            let fd = CLinux_accept(listener)
            if fd >= 0 { return .accepted(FileDescriptor(owning: fd)) }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return .wouldBlock
            case let code:
                Shortage.noteIfShort(code)
                return .failed(code)
            }
        }
    }

    /// Closes the sending side; the peer reads an end of file when it has read the rest.
    public static func shutdownWriting(_ fd: Int32) { shutdown(fd, Int32(SHUT_WR)) }

    /// Shuts both directions down; bytes sent before still arrive. Returns whether the socket holds descriptors that
    /// were passed (SCM_RIGHTS): closing it closes them, which may block. Bytes before them are read and dropped.
    public static func shutDown(_ fd: Int32, reading buffer: UnsafeMutableRawBufferPointer) -> Bool {
        shutdown(fd, Int32(SHUT_RDWR))
        for _ in 0..<mostReads {
            var hasDescriptors: Int32 = 0
            let count = CLinux_peek(fd, buffer.baseAddress, buffer.count, &hasDescriptors)
            if hasDescriptors != 0 { return true }
            guard count > 0 else { return false }
            _ = recv(fd, buffer.baseAddress, count, Int32(MSG_DONTWAIT))
        }
        return true
    }

    /// The maximum number of reads; a socket that holds more is treated as one with descriptors.
    private static let mostReads = 16

    /// The path that a listening socket is bound to; `nil` if it is no Unix socket or has no path.
    public static func boundPath(of fd: Int32) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(fd, $0, &length) }
        }
        guard result == 0, Int32(address.sun_family) == AF_UNIX else { return nil }
        let path = withUnsafeBytes(of: address.sun_path) { bytes in Array(bytes.prefix(while: { $0 != 0 })) }
        return path.isEmpty ? nil : String(decoding: path, as: UTF8.self)
    }
}
