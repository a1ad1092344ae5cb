internal import CLinux
internal import Glibc

/// A file of mode 0600 that goes when this value does, or when a signal ends the process.
public final class TemporaryFile {
    /// Its path.
    public let path: String
    /// Open for reading and writing.
    public let descriptor: FileDescriptor

    /// Makes a file in a directory. A process has one at a time: the signals know of the latest only.
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
