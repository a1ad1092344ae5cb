internal import CLinux
internal import Glibc

/// A regular file opened for reading by its name, once: it is checked on the descriptor that is read, so that a
/// changed name has no effect. May block: for a thread of a ``Worker``.
public struct RegularFile: ~Copyable {
    /// Why a file was not opened.
    public enum Failure: Error, Sendable, Equatable {
        /// The path does not exist, or leads through a directory that this process may not search.
        case unreachable(SystemError)
        /// The path leads into /proc or through one of its links to open files: to this process's own files, not to
        /// the caller's.
        case ofThisProcess(SystemError)
        /// Something else than a regular file: EISDIR, ENXIO for a socket, EINVAL for the rest.
        case notRegular(SystemError)
        /// The file exists but may not be read.
        case unreadable(SystemError)

        /// The kernel's reason.
        public var reason: SystemError {
            switch self {
            case .unreachable(let error), .ofThisProcess(let error), .notRegular(let error), .unreadable(let error):
                error
            }
        }
    }

    /// Open for reading.
    public let descriptor: FileDescriptor
    /// The path without symbolic links.
    public let path: String
    /// Its size in bytes when it was opened.
    public let size: Int64
    /// Its owner.
    public let owner: UInt32
    /// Its permission bits.
    public let permissions: UInt32

    /// Releases the descriptor to the caller.
    consuming func takeDescriptor() -> FileDescriptor { descriptor }

    /// Opens a file. Symbolic links are followed, but not the magic links of /proc for open files, nor those that
    /// another user has put into a folder that all may write.
    public static func open(_ path: String) throws(Failure) -> RegularFile {
        guard !namesProcess(path) else {
            throw .ofThisProcess(SystemError(code: EINVAL, operation: "open", subject: path))
        }
        let fd = SystemPath.withBytes(path) { CLinux_open_path($0) }
        guard fd >= 0 else {
            let error = SystemError.last("open", path)
            guard error.code == ELOOP else { throw .unreachable(error) }
            throw isLoop(path) ? .unreachable(error) : .ofThisProcess(error)
        }
        // The file itself is not open yet (O_PATH): opening a device or a pipe may have side effects.
        let place = FileDescriptor(owning: fd)
        var status = stat()
        guard fstat(place.raw, &status) == 0 else { throw .unreachable(.last("fstat", path)) }
        try check(status, place, path)
        let name = "/proc/self/fd/\(place.raw)"
        let descriptor: FileDescriptor
        do throws(SystemError) {
            descriptor = try FileDescriptor.open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        } catch {
            throw .unreadable(SystemError(code: error.code, operation: "open", subject: path))
        }
        return RegularFile(
            descriptor: descriptor, path: status.st_nlink > 0 ? target(of: name) ?? path : path,
            size: Int64(status.st_size), owner: status.st_uid, permissions: UInt32(status.st_mode) & 0o7777)
    }

    private static func check(_ status: stat, _ place: borrowing FileDescriptor, _ path: String) throws(Failure) {
        let code: Int32
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            guard !FileDescriptor.isInProc(place.raw) else {
                throw .ofThisProcess(SystemError(code: EINVAL, operation: "open", subject: path))
            }
            return
        case S_IFDIR: code = EISDIR
        case S_IFSOCK: code = ENXIO
        default: code = EINVAL
        }
        throw .notRegular(SystemError(code: code, operation: "open", subject: path))
    }

    /// Whether a path, or a link that it leads to, names an open file of the process that opens it, as `/dev/stdout`
    /// does.
    public static func leadsToProcess(_ path: String) -> Bool {
        // What may not be followed is not opened either.
        namesProcess((try? SymbolicLink.followed(path, until: namesProcess)) ?? path)
    }

    /// Whether a path in /proc names an open file of the process that opens it. The kernel finds those that lead
    /// there by links.
    private static func namesProcess(_ path: String) -> Bool {
        let names = ["/dev/fd/", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc/self/fd/", "/proc/thread-self/"]
        return names.contains { path.hasPrefix($0) }
    }

    /// Whether the symbolic links of a path form a cycle, which has the same error number as a link of /proc. For the
    /// message alone.
    private static func isLoop(_ path: String) -> Bool {
        guard let resolved = SystemPath.withBytes(path, { realpath($0, nil) }) else { return errno == ELOOP }
        free(resolved)
        return false
    }

    private static func target(of link: String) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &target, target.count)
        guard count > 0, count < target.count else { return nil }
        return SystemPath.text(target[..<count].lazy.map { UInt8(bitPattern: $0) })
    }
}
