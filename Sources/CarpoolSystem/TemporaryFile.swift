internal import CLinux
internal import Glibc

/// A file of mode 0600 that is deleted with this value, or when a signal ends the process.
public final class TemporaryFile {
    /// Its path.
    public let path: String
    /// Open for reading and writing.
    public let descriptor: FileDescriptor

    /// Creates a file in a directory. A process has one at a time: signals delete only the latest.
    public init(in directory: String) throws(SystemError) {
        let path = "\(directory)/body-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        descriptor = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        self.path = path
        guard CLinux_unlink_on_termination(path) == 0 else {
            let error = SystemError.last("open", path)
            unlink(path)
            throw error
        }
    }

    deinit { unlink(path) }
}
