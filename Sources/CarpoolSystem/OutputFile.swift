internal import Glibc

/// A file that is replaced when it is complete (``FileReplacement``): until then it is as it was. Pipes and devices are
/// written directly.
public final class OutputFile {
    /// The file to write to, open for reading too unless it is a pipe or a device.
    public let descriptor: FileDescriptor
    private let target: String
    private let mode: UInt32
    /// Whether a file that replaces another one has this mode too.
    private let isFixed: Bool
    /// Where the written file gets its name; `nil` if the target is written directly.
    private let folder: Folder?
    /// Where the written file is; `nil` if the target is written directly, and after ``commit()``.
    private var source: FileReplacement.Source?

    /// Opens the file to write to. It has the mode less the umask; without a mode, that of the file that is there, or
    /// 0666 less the umask. A symbolic link is followed, not replaced,
    /// also if its target does not exist. A path of an open descriptor, such as `/dev/stdout`, is that descriptor,
    /// whatever it is. What another user has put into a folder that all may write, a link, a pipe or a file, is refused
    /// with EACCES, a file when it is replaced.
    /// - Parameter staysUnnamed: whether the temporary file gets a name only when it is complete, where the file system
    ///   allows that: nothing is left of it if the process is killed.
    public init(_ path: String, mode: UInt32? = nil, staysUnnamed: Bool = false) throws(SystemError) {
        target = try SymbolicLink.followed(path) { OutputFile.openDescriptor(at: $0) != nil }
        self.mode = (mode ?? 0o666) & ~OutputFile.umask
        isFixed = mode != nil
        if let open = OutputFile.openDescriptor(at: target) {
            descriptor = try FileDescriptor.duplicate(of: open)
            folder = nil
            return
        }
        var info = stat()
        let isThere = SystemPath.withBytes(target) { stat($0, &info) } == 0
        if isThere, info.st_mode & S_IFMT != S_IFREG {
            descriptor = try NamedPath.open(target, O_WRONLY)
            folder = nil
            return
        }
        do throws(SystemError) {
            let place = try Folder.resolving(OutputFile.parent(of: target))
            let made = try OutputFile.make(in: place, staysUnnamed: staysUnnamed, mayBeElsewhere: isThere)
            source = made.source
            descriptor = made.take()
            folder = place
        } catch {
            throw SystemError(code: error.code, operation: "open", subject: target, advice: error.advice)
        }
    }

    deinit { if case .named(let name, let place) = source { try? place.unlink(name) } }

    /// Makes the temporary file: in the folder of the target, because a file cannot be renamed across file systems, or,
    /// if that takes none and the target can be written in place, elsewhere.
    private static func make(
        in folder: Folder, staysUnnamed: Bool, mayBeElsewhere: Bool
    ) throws(SystemError) -> MadeFile {
        if staysUnnamed, let file = try? folder.unnamed() { return MadeFile(file, .unnamed) }
        do throws(SystemError) {
            let name = Folder.temporaryName()
            let file = try folder.open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            return MadeFile(file, .named(name, folder))
        } catch {
            guard mayBeElsewhere, FileReplacement.isRefused(error.code), let file = try? SpareFolder.open().unnamed()
            else { throw error }
            return MadeFile(file, .elsewhere)
        }
    }

    private struct MadeFile: ~Copyable {
        let file: FileDescriptor
        let source: FileReplacement.Source

        init(_ file: consuming FileDescriptor, _ source: FileReplacement.Source) {
            self.file = file
            self.source = source
        }

        consuming func take() -> FileDescriptor { file }
    }

    private static var umask: UInt32 {
        let mask = Glibc.umask(0)
        _ = Glibc.umask(mask)
        return mask
    }

    /// Puts the written file in its place. Without this call nothing is left of it.
    public func commit() throws(SystemError) {
        guard let source, let folder else { return }
        let replacement = try FileReplacement(of: OutputFile.name(of: target), in: folder)
        _ = try replacement.put(descriptor.raw, source, mode: mode, isFixed: isFixed)
        self.source = nil
    }
}

// MARK: The place of a file
extension OutputFile {
    /// The path behind all symbolic links of the last component, which a file of any name replaces; `nil` for a path of
    /// an open descriptor of this process.
    public static func place(of path: String) throws(SystemError) -> String? {
        let place = try SymbolicLink.followed(path) { openDescriptor(at: $0) != nil }
        return openDescriptor(at: place) == nil ? place : nil
    }

    /// Fails if a file that is written to this path could not get it in the end: without the folder, or without the
    /// right to replace or to write what is there.
    public static func check(_ path: String) throws(SystemError) {
        // The name of a folder is refused by another check.
        guard !path.hasSuffix("/"), let place = try place(of: path) else { return }
        _ = try Folder.resolve(parent(of: place))
        var info = stat()
        guard SystemPath.withBytes(place, { stat($0, &info) }) == 0 else {
            guard errno == ENOENT else { throw .last("open", path) }
            return try check(access: W_OK | X_OK, to: parent(of: place), path)
        }
        switch info.st_mode & S_IFMT {
        case S_IFDIR: throw SystemError(code: EISDIR, operation: "open", subject: path)
        case S_IFREG where NamedPath.isPlanted(place), S_IFIFO where NamedPath.isPlanted(place):
            throw NamedPath.planted("open", path)
        case S_IFREG where geteuid() == 0 || info.st_uid == geteuid():
            if isAllowed(W_OK | X_OK, to: parent(of: place)) { return }
            try check(access: W_OK, to: place, path)
        default: try check(access: W_OK, to: place, path)
        }
    }

    private static func check(access: Int32, to place: String, _ path: String) throws(SystemError) {
        guard isAllowed(access, to: place) else { throw .last("open", path) }
    }

    private static func isAllowed(_ access: Int32, to place: String) -> Bool {
        SystemPath.withBytes(place) { faccessat(AT_FDCWD, $0, access, AT_EACCESS) } == 0
    }

    /// The folder of a path, as an absolute path.
    private static func parent(of path: String) -> String {
        let parent = SymbolicLink.parent(of: path)
        return SocketLocation.absolute(parent.isEmpty ? "." : parent)
    }

    private static func name(of path: String) -> String { String(path.dropFirst(SymbolicLink.parent(of: path).count)) }

    /// The descriptor of this process that a path stands for: `/proc/self/fd/1`, `/dev/fd/1` (proc(5)).
    private static func openDescriptor(at path: String) -> Int32? {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), let number = Int32(path[slash...].dropFirst()),
            number >= 0, let folder = SystemPath.withBytes(String(path[..<slash]), { realpath($0, nil) })
        else { return nil }
        defer { free(folder) }
        return String(cString: folder) == "/proc/\(getpid())/fd" ? number : nil
    }
}

/// The folder of complete files that are copied to their place, because the folder of that place takes no new files.
public enum SpareFolder {
    /// Opens the first of `/var/tmp`, which is on a disk, and `/tmp`.
    public static func open() throws(SystemError) -> Folder {
        do throws(SystemError) { return try Folder.resolving("/var/tmp") } catch {
            return try Folder.resolving("/tmp")
        }
    }
}
