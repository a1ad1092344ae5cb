internal import CLinux
internal import Glibc

/// Writes all bytes to a descriptor of any kind, such as a file, a pipe, or a non-blocking terminal.
public struct BlockingOutput: Sendable {
    private let fd: Int32
    private let isNamed: Bool

    /// Maximum number of bytes copied by one call, and the size of the buffer if the kernel cannot copy.
    private static let chunkBytes = 256 * 1024

    /// Borrows a descriptor, which must stay open as long as this value is used.
    /// - Parameter isNamed: whether it was opened by ``NamedPath``, whose limit ends the wait for the reader of a pipe:
    ///   ETIME then.
    public init(borrowing fd: Int32, isNamed: Bool = false) {
        self.fd = fd
        self.isNamed = isNamed
    }

    /// Writes all bytes. EPIPE means that there is no reader, if SIGPIPE is ignored.
    public func write(_ buffer: UnsafeRawBufferPointer) throws(SystemError) {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
            let count = Glibc.write(fd, rest.baseAddress, rest.count)
            guard count < 0 else {
                done &+= count
                continue
            }
            try waitOrThrow("write")
        }
    }

    /// Writes all bytes.
    public func write(_ bytes: [UInt8]) throws(SystemError) { try write(bytes, count: bytes.count) }

    private func write(_ bytes: [UInt8], count: Int) throws(SystemError) {
        try bytes[..<count].withUnsafeBufferPointer { (buffer) throws(SystemError) in
            try write(UnsafeRawBufferPointer(buffer))
        }
    }

    /// Copies the rest of a file, in the kernel where it can, and never more than a chunk at a time in memory.
    public func copy(from source: borrowing FileDescriptor) throws(SystemError) {
        while true {
            let count = sendfile(fd, source.raw, nil, BlockingOutput.chunkBytes)
            if count == 0 { return }
            if count > 0 { continue }
            // The kernel does not copy from or to this kind of file (an appending one, for example).
            if errno == EINVAL || errno == ENOSYS { return try copyByHand(from: source.raw) }
            try waitOrThrow("sendfile")
        }
    }

    private func copyByHand(from source: Int32) throws(SystemError) {
        var buffer = [UInt8](repeating: 0, count: BlockingOutput.chunkBytes)
        while true {
            switch buffer.withUnsafeMutableBytes({ Bytes.read(source, into: $0) }) {
            case .bytes(let count): try write(buffer, count: count)
            case .endOfFile: return
            case .wouldBlock: throw SystemError(code: EAGAIN, operation: "read")
            case .failed(let code): throw SystemError(code: code, operation: "read")
            }
        }
    }

    private func waitOrThrow(_ operation: String) throws(SystemError) {
        switch errno {
        case EINTR: return
        case EAGAIN where isNamed:
            guard NamedPath.limit.waitForOutput(fd, or: []) != nil else { throw NamedPath.late(operation) }
        case EAGAIN:
            var entry = pollfd(fd: fd, events: Int16(POLLOUT), revents: 0)
            poll(&entry, 1, -1)
        default: throw .last(operation)
        }
    }
}
