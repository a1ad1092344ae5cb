internal import Glibc

/// The suitability of a path as a private directory.
public enum DirectoryState: Equatable, Sendable {
    /// Nothing exists at the path.
    case absent
    /// A directory of this process's user, with these permission bits.
    case ours(mode: UInt32)
    /// Another user's directory, or no directory at all (symbolic links are not followed).
    case foreign
}

/// Directories that only their owner can read.
public enum PrivateDirectory {
    /// Checks a path without following a symbolic link.
    public static func inspect(_ path: String) -> DirectoryState {
        inspect(path, uid: geteuid())
    }

    static func inspect(_ path: String, uid: UInt32) -> DirectoryState {
        var info = stat()
        guard lstat(path, &info) == 0 else {
            Shortage.noteIfShort(errno)
            return errno == ENOENT ? .absent : .foreign
        }
        guard info.st_mode & S_IFMT == S_IFDIR, info.st_uid == uid else { return .foreign }
        return .ours(mode: info.st_mode & 0o7777)
    }

    /// Creates a directory with exactly this mode, and its missing parents with 0700 (as the XDG specification
    /// requires). An existing one must belong to this user, and its mode is changed; another user's is refused with
    /// EPERM.
    public static func create(_ path: String, mode: UInt32 = 0o700) throws(SystemError) {
        for end in path.indices where path[end] == "/" && end != path.startIndex {
            guard mkdir(String(path[..<end]), 0o700) == 0 || errno == EEXIST || errno == EROFS || errno == EACCES
            else { throw .last("mkdir", String(path[..<end])) }
        }
        guard mkdir(path, mode) == 0 || errno == EEXIST else { throw .last("mkdir", path) }
        let shortages = Shortage.count
        switch inspect(path) {
        case .foreign where Shortage.count != shortages:
            throw SystemError(code: Shortage.lastCode, operation: "lstat", subject: path)
        case .absent: throw SystemError(code: ENOENT, operation: "mkdir", subject: path)
        case .ours(mode: mode): return
        case .ours: guard chmod(path, mode) == 0 else { throw .last("chmod", path) }
        case .foreign:
            throw SystemError(
                code: EPERM, operation: "mkdir", subject: path,
                advice:
                    "it is not a directory of uid \(geteuid()); choose another path with --socket or $CARPOOL_SOCKET")
        }
    }
}
