internal import Glibc

/// A file that is replaced atomically: the content is written to a temporary file in the same directory, which is then
/// renamed. Pipes and devices are written directly.
public final class OutputFile {
    /// The file to write to.
    public let descriptor: FileDescriptor
    private let target: String
    /// The path of the temporary file; `nil` if the target is written directly, and after ``commit()``.
    private var temporary: String?
    /// Whether the written file has no name yet.
    private var isUnnamed = false

    /// Opens the file to write to. A new one has the mode less the umask. A symbolic link is followed, not replaced,
    /// also if its target does not exist. A path of an open descriptor, such as `/dev/stdout`, is that descriptor,
    /// whatever it is.
    /// - Parameter staysUnnamed: whether the temporary file gets a name only when it is complete, where the file system
    ///   allows that: nothing is left of it if the process is killed.
    public init(_ path: String, mode: UInt32 = 0o666, staysUnnamed: Bool = false) throws(SystemError) {
        target = SymbolicLink.followed(path) { OutputFile.openDescriptor(at: $0) != nil }
        if let open = OutputFile.openDescriptor(at: target) {
            descriptor = try FileDescriptor.duplicate(of: open)
            return
        }
        var info = stat()
        if stat(target, &info) == 0, info.st_mode & S_IFMT != S_IFREG {
            descriptor = try FileDescriptor.open(target, O_WRONLY)
            return
        }
        let temporary = OutputFile.place(beside: target)
        let folder = SymbolicLink.parent(of: target)
        if staysUnnamed, let file = try? FileDescriptor.unnamed(in: folder.isEmpty ? "." : folder) {
            let mask = umask(0)
            umask(mask)
            fchmod(file.raw, mode & ~mask)
            descriptor = file
            self.temporary = temporary
            isUnnamed = true
            return
        }
        do throws(SystemError) {
            descriptor = try FileDescriptor.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        } catch {
            throw SystemError(code: error.code, operation: "open", subject: target)
        }
        self.temporary = temporary
    }

    deinit { if let temporary, !isUnnamed { unlink(temporary) } }

    /// The path behind all symbolic links of the last component, which a file of any name replaces; `nil` for a path of
    /// an open descriptor of this process.
    public static func place(of path: String) -> String? {
        let place = SymbolicLink.followed(path) { openDescriptor(at: $0) != nil }
        return openDescriptor(at: place) == nil ? place : nil
    }

    /// The descriptor of this process that a path stands for: `/proc/self/fd/1`, `/dev/fd/1` (proc(5)).
    private static func openDescriptor(at path: String) -> Int32? {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), let number = Int32(path[slash...].dropFirst()),
            number >= 0, let folder = realpath(String(path[..<slash]), nil)
        else { return nil }
        defer { free(folder) }
        return String(cString: folder) == "/proc/\(getpid())/fd" ? number : nil
    }

    /// A unique name in the same directory, because a file cannot be renamed across file systems.
    private static func place(beside target: String) -> String {
        "\(SymbolicLink.parent(of: target)).carpool-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    }

    /// Renames the written file to its final name. Without this call nothing is left.
    public func commit() throws(SystemError) {
        guard let temporary else { return }
        if isUnnamed {
            do throws(SystemError) { try descriptor.link(to: temporary) } catch {
                throw SystemError(code: error.code, operation: "link", subject: target)
            }
            isUnnamed = false
        }
        guard rename(temporary, target) == 0 else { throw .last("rename", target) }
        self.temporary = nil
    }
}
