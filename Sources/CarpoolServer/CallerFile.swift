internal import CarpoolSystem
internal import Glibc

/// A file that a caller named: symbolic links are resolved first, and what they lead to is opened without following any more.
struct CallerFile: ~Copyable {
    let path: String
    let size: Int64
    /// Differs when the content may have changed: from inode, size and time of change.
    let version: UInt64
    let descriptor: FileDescriptor

    static func open(_ path: String) throws(SystemError) -> CallerFile {
        guard let resolved = realpath(path, nil) else { throw .last("realpath", path) }
        defer { free(resolved) }
        let real = String(cString: resolved)
        // Without O_NONBLOCK a FIFO would hold the loop until somebody writes to it.
        let descriptor = try FileDescriptor.open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        var status = stat()
        guard fstat(descriptor.raw, &status) == 0 else { throw .last("fstat", path) }
        // What does not tell its size would be sent as if it were empty.
        guard status.st_mode & S_IFMT == S_IFREG, !descriptor.isInProc else {
            throw SystemError(
                code: status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL, operation: "open", subject: path)
        }
        var version = StableHash()
        for part in [status.st_ino, UInt(bitPattern: status.st_size)] { version.combine(UInt64(part)) }
        for part in [status.st_mtim.tv_sec, status.st_mtim.tv_nsec] { version.combine(UInt64(UInt(bitPattern: part))) }
        return CallerFile(path: real, size: Int64(status.st_size), version: version.value, descriptor: descriptor)
    }
}
