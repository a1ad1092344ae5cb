internal import Glibc

/// A file that is replaced atomically: the content is written to a temporary file in the same directory, which is then
/// renamed. Pipes and devices are written directly.
public final class OutputFile {
    /// The file to write to.
    public let descriptor: FileDescriptor
    private let target: String
    /// The path of the temporary file; `nil` if the target is written directly, and after ``commit()``.
    private var temporary: String?

    /// Opens the file to write to. The mode is 0666 less the umask; a symbolic link is followed, not replaced.
    public init(_ path: String) throws(SystemError) {
        var info = stat()
        if stat(path, &info) == 0, info.st_mode & S_IFMT != S_IFREG {
            descriptor = try FileDescriptor.open(path, O_WRONLY)
            target = path
            return
        }
        target = OutputFile.resolve(path)
        let temporary = OutputFile.place(beside: target)
        do throws(SystemError) {
            descriptor = try FileDescriptor.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
        } catch {
            throw SystemError(code: error.code, operation: "open", subject: target)
        }
        self.temporary = temporary
    }

    deinit { if let temporary { unlink(temporary) } }

    private static func resolve(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// A unique name in the same directory, because a file cannot be renamed across file systems.
    private static func place(beside target: String) -> String {
        let directory = target.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(target[...$0]) } ?? ""
        return "\(directory).carpool-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    }

    /// Renames the written file to its final name. Without this call nothing is left.
    public func commit() throws(SystemError) {
        guard let temporary else { return }
        guard rename(temporary, target) == 0 else { throw .last("rename", target) }
        self.temporary = nil
    }
}
