internal import CLinux
internal import Glibc

/// An open directory. Files in it are created, renamed and removed relative to its descriptor and not by a path, which
/// may lead elsewhere by then.
///
/// `@unchecked Sendable` because it is immutable.
public final class Folder: @unchecked Sendable {
    /// The path that it was opened by.
    public let path: String
    fileprivate let descriptor: FileDescriptor
    /// For calls that borrow it.
    var raw: Int32 { descriptor.raw }

    /// Opens a folder by its absolute path, without following a symbolic link in any part of it.
    /// - Parameter missingMode: makes the parts that are missing with this mode; `nil` fails with ENOENT instead.
    public init(_ path: String, missingMode: UInt32? = nil) throws(SystemError) {
        let raw = SystemPath.withBytes(path) { CLinux_open_folder($0, missingMode == nil ? 0 : 1, missingMode ?? 0) }
        guard raw >= 0 else { throw .last("open", path) }
        descriptor = FileDescriptor(owning: raw)
        self.path = path
    }

    /// Opens a folder after resolving all symbolic links in the part of the path that exists.
    public static func resolving(_ path: String, missingMode: UInt32? = nil) throws(SystemError) -> Folder {
        try Folder(try resolve(path), missingMode: missingMode)
    }

    /// The absolute path of an existing file or folder without symbolic links. EACCES for a link that another user has
    /// put into a folder that all may write.
    public static func realPath(_ path: String) throws(SystemError) -> String { try SymbolicLink.realPath(path) }

    /// The absolute path without symbolic links, as far as it exists; the missing rest is kept. EACCES for a link that
    /// another user has put into a folder that all may write.
    public static func resolve(_ path: String) throws(SystemError) -> String {
        var (known, rest) = (path[...], "")
        while !known.isEmpty {
            do throws(SystemError) {
                let real = try SymbolicLink.realPath(String(known))
                return rest.isEmpty ? real : (real == "/" ? "" : real) + rest
            } catch {
                guard error.code == ENOENT else { throw error }
            }
            let slash = known.lastIndex(of: "/") ?? known.startIndex
            rest = known[slash...] + rest
            known = known[..<slash]
        }
        return rest.isEmpty ? "/" : rest
    }

    /// Opens a file in it, close-on-exec.
    public func open(_ name: String, _ flags: Int32, mode: UInt32 = 0) throws(SystemError) -> FileDescriptor {
        while true {
            let raw = SystemPath.withBytes(name) { openat(descriptor.raw, $0, flags | O_CLOEXEC, mode) }
            if raw >= 0 { return FileDescriptor(owning: raw) }
            if errno != EINTR { throw .last("open", "\(path)/\(name)") }
        }
    }

    /// The status of a name in it; a symbolic link is not followed.
    public func status(of name: String) throws(SystemError) -> FileStatus {
        var status = stat()
        let result = SystemPath.withBytes(name) { fstatat(descriptor.raw, $0, &status, AT_SYMLINK_NOFOLLOW) }
        guard result == 0 else {
            throw .last("stat", "\(path)/\(name)")
        }
        return FileStatus(status)
    }

    /// Renames a file of it to a name in another folder; EEXIST if that is taken and may not be replaced.
    public func rename(_ name: String, to newName: String, in folder: Folder, replaces: Bool) throws(SystemError) {
        let result = SystemPath.withBytes(name) { old in
            SystemPath.withBytes(newName) { new in
                CLinux_rename_between(descriptor.raw, old, folder.descriptor.raw, new, replaces ? 1 : 0)
            }
        }
        guard result == 0 else { throw .last("rename", "\(folder.path)/\(newName)") }
    }

    /// Whether a path leads to it now.
    public func isAt(_ path: String) -> Bool {
        var (own, there) = (stat(), stat())
        guard fstat(descriptor.raw, &own) == 0, SystemPath.withBytes(path, { stat($0, &there) }) == 0 else {
            return false
        }
        return own.st_dev == there.st_dev && own.st_ino == there.st_ino
    }

    /// A new unnamed file of mode 0600 in it (open(2), `O_TMPFILE`).
    public func unnamed() throws(SystemError) -> FileDescriptor {
        let fd = CLinux_open_unnamed_in(descriptor.raw)
        guard fd >= 0 else { throw .last("open", path) }
        return FileDescriptor(owning: fd)
    }

    /// Links an unnamed file to a name in it; fails if the name exists.
    func link(unnamed file: Int32, to name: String) throws(SystemError) {
        guard SystemPath.withBytes(name, { CLinux_link_unnamed_in(file, descriptor.raw, $0) }) == 0 else {
            throw .last("linkat", "\(path)/\(name)")
        }
    }

    /// A name for a file that is renamed when it is complete.
    public static func temporaryName() -> String { ".carpool-\(String(UInt64.random(in: 0 ... .max), radix: 36))" }

    /// Its own status.
    public func status() throws(SystemError) -> FileStatus { try FileStatus(of: descriptor.raw) }

    /// Removes a file of it.
    public func unlink(_ name: String) throws(SystemError) {
        guard SystemPath.withBytes(name, { unlinkat(descriptor.raw, $0, 0) }) == 0 else {
            throw .last("unlink", "\(path)/\(name)")
        }
    }
}

extension FileDescriptor {
    /// Links an unnamed file to a name in a folder; fails if the name exists.
    public borrowing func link(to name: String, in folder: Folder) throws(SystemError) {
        try folder.link(unnamed: raw, to: name)
    }
}
