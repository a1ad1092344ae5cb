internal import CarpoolSession
internal import CarpoolSystem
internal import Glibc

/// The complete body of a response, in memory or in a file. Reading it may block, unless it is in memory.
enum StoredBody: Sendable {
    /// In memory.
    case memory([UInt8])
    /// In a file: the spool's, or that of a download.
    case file(path: String, size: Int64)

    /// How many bytes it has.
    var size: Int64 {
        switch self {
        case .memory(let bytes): Int64(bytes.count)
        case .file(_, let size): size
        }
    }

    /// Reads a piece: fewer bytes than asked for at the end, none after it.
    func read(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
        switch self {
        case .memory(let bytes):
            let start = min(offset, bytes.count)
            return Array(bytes[start..<min(bytes.count, start + count)])
        case .file(let path, let size):
            // The kernel refuses an offset whose end overflows.
            guard offset >= 0, offset < size else { return [] }
            let file = try StoredBody.open(path)
            return try FilePiece.read(file.raw, at: Int64(offset), count: count)
        }
    }

    /// A read-only descriptor of the body, positioned at its start.
    func open() throws(SystemError) -> FileDescriptor {
        switch self {
        case .memory(let bytes):
            try FileDescriptor.sealed(bytes)
        case .file(let path, _): try StoredBody.open(path)
        }
    }

    /// The file of a download may have been replaced since.
    private static func open(_ path: String) throws(SystemError) -> FileDescriptor {
        let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        var status = stat()
        guard fstat(file.raw, &status) == 0 else { throw .last("fstat", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SystemError(code: EINVAL, operation: "open", subject: path)
        }
        return file
    }
}
