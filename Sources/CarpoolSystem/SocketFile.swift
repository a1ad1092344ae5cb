internal import CLinux
internal import Glibc

/// A Unix socket in the file system, found by its path once: connections are made to what was found, so that neither a
/// changed name nor a slow file system matters any more. May block: for a thread of a ``Worker``.
public final class SocketFile: Sendable {
    private let descriptor: Int32

    private init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// A short path that leads to the socket as long as this object lives: connect(2) takes at most 107 bytes.
    public var path: String { "/proc/self/fd/\(descriptor)" }

    /// Finds a socket. Symbolic links are followed, but not the magic links of /proc for open files.
    public static func open(_ path: String) throws(SystemError) -> SocketFile {
        let descriptor = SystemPath.withBytes(path) { CLinux_open_path($0) }
        guard descriptor >= 0 else { throw .last("connect", path) }
        let file = SocketFile(owning: descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .last("connect", path) }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SystemError(code: ENOTSOCK, operation: "connect", subject: path)
        }
        // The kernel would ask a server or another process whether the socket may be used, and wait for the answer.
        guard CLinux_is_remote(descriptor) == 0 else {
            throw SystemError(code: EOPNOTSUPP, operation: "connect", subject: path)
        }
        return file
    }
}
