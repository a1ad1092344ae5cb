internal import CLinux
internal import Glibc
internal import Synchronization

/// Opens, reads and writes what the user of a command names. That may be a pipe (fifo(7)), which may have no other end,
/// and in a folder such as /tmp it may have been put there by another user: then it is refused with EACCES, as by the
/// kernel if fs.protected_symlinks and its relatives are set (proc(5)).
public enum NamedPath {
    private static let nanoseconds = Atomic<UInt64>(.max)

    /// Until when this process waits for the other ends of pipes; ETIME then. The default is without a limit, as for
    /// open(2).
    public static var limit: MonotonicTime {
        get { MonotonicTime(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
        set { nanoseconds.store(newValue.nanoseconds, ordering: .relaxed) }
    }

    /// Sets ``limit`` to so many milliseconds after a point of time; `nil` or 0 sets none.
    public static func setLimit(milliseconds: Int?, since began: MonotonicTime = .read()) {
        limit =
            milliseconds.flatMap { $0 > 0 ? began.advanced(milliseconds: $0) : nil }
            ?? MonotonicTime(nanoseconds: .max)
    }

    /// Whether the limit has passed.
    public static var isTimeOver: Bool {
        let limit = limit
        return limit.nanoseconds < .max && MonotonicTime.read() >= limit
    }

    /// How long to wait before a pipe without a reader is opened again: nothing tells when it gets one.
    private static let intervalMilliseconds: Int32 = 10

    /// Opens a file close-on-exec, as open(2) does. One that is written waits for the reader of a pipe; reads wait for
    /// its writer (``read(_:into:from:of:)``).
    public static func open(_ path: String, _ flags: Int32, mode: UInt32 = 0) throws(SystemError) -> FileDescriptor {
        while true {
            let fd = SystemPath.withBytes(path) { CLinux_open_named($0, flags, mode) }
            if fd >= 0 { return FileDescriptor(owning: fd) }
            let failure = SystemError.last("open", path)
            switch failure.code {
            case EINTR: continue
            case EAGAIN:
                guard !isTimeOver else { throw late("open", path) }
                poll(nil, 0, intervalMilliseconds)
            case EACCES where isPlanted(path): throw planted("open", path)
            default: throw failure
            }
        }
    }

    /// Reads once from a file that was opened here, or from standard input, into the bytes from an index on. Returns
    /// how many there are now; 0 at its end.
    public static func read(
        _ fd: Int32, into bytes: inout [UInt8], from start: Int = 0, of path: String
    ) throws(SystemError) -> Int {
        while true {
            guard limit.waitForInput(fd) else { throw late("read", path) }
            let result = bytes.withUnsafeMutableBytes { buffer in
                Bytes.read(fd, into: UnsafeMutableRawBufferPointer(rebasing: buffer[start...]))
            }
            switch result {
            case .bytes(let count): return count
            case .endOfFile: return 0
            case .wouldBlock: continue
            case .failed(let code): throw SystemError(code: code, operation: "read", subject: path)
            }
        }
    }

    /// Reads a small file to its end; EFBIG if it has more bytes.
    public static func read(_ path: String, atMost limit: Int) throws(SystemError) -> [UInt8] {
        let file = try open(path, O_RDONLY)
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = try read(file.raw, into: &buffer, of: path)
            guard count > 0 else { return content }
            content += buffer[..<count]
            guard content.count <= limit else { throw SystemError(code: EFBIG, operation: "read", subject: path) }
        }
    }

    static func late(_ operation: String, _ path: String? = nil) -> SystemError {
        SystemError(
            code: ETIME, operation: operation, subject: path,
            advice: "the other end of the pipe was not there within the time limit")
    }

    // MARK: What another user has put into a folder

    static func planted(_ operation: String, _ path: String) -> SystemError {
        SystemError(
            code: EACCES, operation: operation, subject: path,
            advice: "another user has put it, or a link to it, into a folder that all may write")
    }

    /// Whether another user has put the file or link of this name into a folder that all may write.
    static func isPlanted(_ path: String) -> Bool {
        var (own, folder) = (stat(), stat())
        let parent = SymbolicLink.parent(of: path)
        guard SystemPath.withBytes(path, { lstat($0, &own) }) == 0,
            SystemPath.withBytes(parent.isEmpty ? "." : parent, { stat($0, &folder) }) == 0
        else { return false }
        return CLinux_is_planted(own.st_uid, folder.st_uid, folder.st_mode) != 0
    }
}

extension Folder {
    /// Whether another user has put a file with this status into it, a folder that all may write.
    func isPlanted(_ file: FileStatus) throws(SystemError) -> Bool {
        guard file.owner != geteuid() else { return false }
        let own = try status()
        return CLinux_is_planted(file.owner, own.owner, own.permissions) != 0
    }
}
