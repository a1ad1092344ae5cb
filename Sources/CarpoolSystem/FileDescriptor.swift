internal import CLinux
internal import Glibc

/// The unique owner of an open descriptor: closes it when it goes out of scope.
public struct FileDescriptor: ~Copyable {
    /// The number, for calls that borrow it.
    public let raw: Int32

    /// Takes over an open descriptor.
    public init(owning raw: Int32) { self.raw = raw }

    deinit { close(raw) }

    /// Releases the descriptor; the caller closes it.
    public consuming func release() -> Int32 {
        let raw = self.raw
        discard self
        return raw
    }

    /// Opens a file close-on-exec, as open(2) does.
    public static func open(_ path: String, _ flags: Int32, mode: UInt32 = 0) throws(SystemError) -> FileDescriptor {
        while true {
            let fd = SystemPath.withBytes(path) { Glibc.open($0, flags | O_CLOEXEC, mode) }
            if fd >= 0 { return FileDescriptor(owning: fd) }
            if errno != EINTR { throw .last("open", path) }
        }
    }
}

extension FileDescriptor {
    /// A new unnamed file of mode 0600 in a folder (open(2), `O_TMPFILE`): it is never visible half written, and
    /// disappears if the process dies.
    public static func unnamed(in directory: String) throws(SystemError) -> FileDescriptor {
        let fd = SystemPath.withBytes(directory) { CLinux_open_unnamed($0) }
        guard fd >= 0 else { throw .last("open", directory) }
        return FileDescriptor(owning: fd)
    }

    /// Another descriptor, close-on-exec, for the same open file: they share the position (fcntl(2),
    /// `F_DUPFD_CLOEXEC`).
    public static func duplicate(of raw: Int32) throws(SystemError) -> FileDescriptor {
        let fd = fcntl(raw, F_DUPFD_CLOEXEC, 3)
        guard fd >= 0 else { throw .last("fcntl", "descriptor \(raw)") }
        return FileDescriptor(owning: fd)
    }

    /// A sealed file in memory with these bytes (memfd_create(2), fcntl(2)).
    public static func sealed(_ bytes: [UInt8]) throws(SystemError) -> FileDescriptor {
        let fd = bytes.withUnsafeBytes { CLinux_sealed_file($0.baseAddress, $0.count) }
        guard fd >= 0 else { throw .last("memfd_create") }
        return FileDescriptor(owning: fd)
    }

    /// The ends of a new pipe, close-on-exec, which the caller closes.
    public static func pipe() throws(SystemError) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard CLinux_blocking_pipe(&ends) == 0 else { throw .last("pipe2") }
        return (ends[0], ends[1])
    }

    /// Whether a descriptor was opened for reading, and not only for its path (O_PATH, open(2)). A shortage is noted.
    public static func isReadable(_ raw: Int32) -> Bool { isKnown(CLinux_is_readable(raw) != 0) }

    /// Whether a descriptor was opened for writing, and not only for its path (O_PATH, open(2)). A shortage is noted.
    public static func isWritable(_ raw: Int32) -> Bool { isKnown(CLinux_is_writable(raw) != 0) }

    /// Returns the result of a call, whose `errno` is noted if it failed for a shortage.
    private static func isKnown(_ isTrue: Bool) -> Bool {
        if !isTrue { Shortage.noteIfShort(errno) }
        return isTrue
    }

    /// Whether a descriptor is a file in memory (memfd_create(2)), which never waits for a disk.
    public static func isInMemory(_ raw: Int32) -> Bool { CLinux_is_memory_file(raw) != 0 }

    /// Whether a descriptor is a pipe without a name (pipe(2)). Takes no lock, unlike fstat(2) of some file systems and
    /// F_GETPIPE_SZ (fcntl(2)).
    public static func isPipe(_ raw: Int32) -> Bool {
        let name: StaticString = "pipe:["
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: name.utf8CodeUnitCount) { buffer in
            guard let start = buffer.baseAddress else { return false }
            return readlink("/proc/self/fd/\(raw)", start, buffer.count) == buffer.count
                && memcmp(start, name.utf8Start, buffer.count) == 0
        }
    }

    /// Whether a character device with this number (makedev(3)) is /dev/null, /dev/zero or /dev/full (null(4),
    /// full(4)), which take bytes without looking at who writes.
    public static func takesBytes(_ device: UInt) -> Bool { [0x103, 0x105, 0x107].contains(device) }

    /// The address family of a socket (socket(2)); `nil` for other descriptors. May wait for the socket's lock. A
    /// shortage is noted.
    public static func socketFamily(_ raw: Int32) -> Int32? { option(SO_DOMAIN, of: raw) }

    private static func option(_ name: Int32, of raw: Int32) -> Int32? {
        var (value, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        return isKnown(getsockopt(raw, SOL_SOCKET, name, &value, &length) == 0) ? value : nil
    }

    /// Whether a socket is a connected one of bytes, and not of messages, listening or unconnected. Does not wait for
    /// the lock of a Unix or TCP socket, as getpeername(2) does for TCP: another process may hold it for any time. A
    /// shortage is noted.
    public static func isConnectedStream(_ raw: Int32) -> Bool {
        guard option(SO_TYPE, of: raw) == Int32(SOCK_STREAM.rawValue), option(SO_ACCEPTCONN, of: raw) == 0 else {
            return false
        }
        guard socketFamily(raw) == AF_UNIX else {
            // Reported for a TCP socket that is not connected, whatever the events.
            var state = pollfd(fd: raw, events: 0, revents: 0)
            return poll(&state, 1, 0) == 0
        }
        var (peer, length) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
        return withUnsafeMutablePointer(to: &peer) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { isKnown(getpeername(raw, $0, &length) == 0) }
        }
    }

    /// Whether a descriptor is a file of /proc. Those are regular files that report the size 0 but have content
    /// (proc(5)).
    public static func isInProc(_ raw: Int32) -> Bool { CLinux_is_in_proc(raw) != 0 }

    /// Whether a descriptor is a file of the kernel, such as one of /proc, /sys or a control group: writing to it
    /// changes the system.
    public static func isOfKernel(_ raw: Int32) -> Bool { CLinux_is_of_kernel(raw) != 0 }
}

/// The result of a non-blocking read or write.
public enum IOResult: Equatable, Sendable {
    /// The number of bytes that were read or written; at least one.
    case bytes(Int)
    /// Nothing can be moved now; wait for readiness.
    case wouldBlock
    /// The other side has shut down its half (reads only).
    case endOfFile
    /// The call failed with this `errno`; the descriptor is unusable.
    case failed(Int32)
}

/// Reads and writes of borrowed descriptors, with the return codes of the system calls as values.
public enum Bytes {
    /// Reads once into a buffer, as read(2) does.
    public static func read(_ fd: Int32, into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        result(of: { Glibc.read(fd, buffer.baseAddress, buffer.count) }, zero: .endOfFile)
    }

    /// Maximum number of descriptors of one message (SCM_MAX_FD of the kernel): with a smaller buffer the kernel would
    /// close the rest, on this thread.
    private static let maximumDescriptors = 253

    /// Stands for descriptors that came when the process had no number for them: the kernel has closed them.
    public static let missingDescriptor = CLINUX_MISSING_DESCRIPTOR

    /// Reads once from a socket, without waiting whatever its mode, and takes over the descriptors that came with the
    /// first byte (SCM_RIGHTS, unix(7)); the caller closes them. The last one may be ``missingDescriptor``.
    public static func receive(
        _ fd: Int32, into buffer: UnsafeMutableRawBufferPointer, descriptors: inout [Int32]
    ) -> IOResult {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: maximumDescriptors) { slots in
            var count: Int32 = 0
            let result = result(
                of: {
                    CLinux_receive(
                        fd, buffer.baseAddress, buffer.count, slots.baseAddress, Int32(maximumDescriptors), &count)
                }, zero: .endOfFile)
            guard count > 0 else { return laterIfShort(result) }
            descriptors.append(contentsOf: slots[..<Int(count)])
            if descriptors.last == missingDescriptor { Shortage.note(EMFILE) }
            return result
        }
    }

    /// Reads once from a socket, without waiting whatever its mode, and nothing but bytes.
    public static func receive(_ fd: Int32, into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        laterIfShort(
            result(of: { recv(fd, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) }, zero: .endOfFile))
    }

    /// Sends once to a socket, without SIGPIPE.
    public static func send(_ fd: Int32, _ buffer: UnsafeRawBufferPointer) -> IOResult {
        laterIfShort(
            result(of: { Glibc.send(fd, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL)) }, zero: .wouldBlock))
    }

    /// A socket for which the kernel has no memory now is tried again when it is ready, which it still is.
    private static func laterIfShort(_ result: IOResult) -> IOResult {
        if case .failed(let code) = result, Shortage.noteIfShort(code) { return .wouldBlock }
        return result
    }

    /// Sends once to a socket, without waiting whatever its mode, and without SIGPIPE.
    static func sendWithoutWaiting(_ fd: Int32, _ buffer: UnsafeRawBufferPointer) -> IOResult {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        return laterIfShort(
            result(of: { Glibc.send(fd, buffer.baseAddress, buffer.count, flags) }, zero: .wouldBlock))
    }

    /// Sends once to a Unix socket, with a descriptor that the peer gets with the first byte (SCM_RIGHTS, unix(7)).
    public static func send(_ fd: Int32, _ buffer: UnsafeRawBufferPointer, passing passed: Int32) -> IOResult {
        send(fd, buffer, passing: PassedDescriptors(passed))
    }

    /// Sends once to a Unix socket, with descriptors that the peer gets with the first byte; at least one.
    public static func send(_ fd: Int32, _ buffer: UnsafeRawBufferPointer, passing passed: PassedDescriptors)
        -> IOResult
    {
        passed.withNumbers { numbers in
            let count = Int32(passed.count)
            return laterIfShort(
                result(
                    of: { CLinux_send_with_descriptors(fd, buffer.baseAddress, buffer.count, numbers, count) },
                    zero: .wouldBlock))
        }
    }

    /// How many bytes a pipe has (FIONREAD, pipe(7)).
    public static func available(inPipe pipe: Int32) -> Int {
        var count: Int32 = 0
        return ioctl(pipe, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }

    /// Moves bytes from a pipe into another descriptor, without copying them through the process (splice(2)). Waits
    /// until that has taken them. Fails with EINVAL if it takes none that way, as a file that is open for appending.
    public static func move(_ count: Int, fromPipe pipe: Int32, to fd: Int32) -> IOResult {
        result(of: { CLinux_move_from_pipe(pipe, fd, count) }, zero: .endOfFile)
    }

    /// Writes once, as write(2) does.
    static func write(_ fd: Int32, _ buffer: UnsafeRawBufferPointer) -> IOResult {
        result(of: { Glibc.write(fd, buffer.baseAddress, buffer.count) }, zero: .failed(EIO))
    }

    /// Writes a whole buffer to a file, with as many calls as necessary. Blocks while the file system blocks.
    public static func writeAll(_ fd: Int32, _ buffer: UnsafeRawBufferPointer) throws(SystemError) {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
            switch result(of: { Glibc.write(fd, rest.baseAddress, rest.count) }, zero: .failed(EIO)) {
            case .bytes(let count): done += count
            case .wouldBlock: throw SystemError(code: EAGAIN, operation: "write")
            case .endOfFile: throw SystemError(code: EIO, operation: "write")
            case .failed(let code): throw SystemError(code: code, operation: "write")
            }
        }
    }

    /// Reads a small file to its end; EFBIG if it has more than `limit` bytes.
    public static func readAll(_ fd: Int32, atMost limit: Int, path: String) throws(SystemError) -> [UInt8] {
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            switch buffer.withUnsafeMutableBytes({ read(fd, into: $0) }) {
            case .bytes(let count): content += buffer[..<count]
            case .endOfFile: return content
            case .wouldBlock: throw SystemError(code: EAGAIN, operation: "read", subject: path)
            case .failed(let code): throw SystemError(code: code, operation: "read", subject: path)
            }
            guard content.count <= limit else { throw SystemError(code: EFBIG, operation: "read", subject: path) }
        }
    }

    static func result(of call: () -> Int, zero: IOResult) -> IOResult {
        while true {
            let count = call()
            if count > 0 { return .bytes(count) }
            if count == 0 { return zero }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            case let code: return .failed(code)
            }
        }
    }
}
