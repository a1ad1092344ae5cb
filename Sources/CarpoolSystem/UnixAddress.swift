internal import Glibc

/// The address of a Unix socket in the kernel's form.
struct UnixAddress {
    private var address = sockaddr_un()
    private let length: socklen_t

    /// An address in the file system. Throws `ENAMETOOLONG` with the path, its length and a remedy.
    init(path: String, operation: String) throws(SystemError) {
        let bytes = Array(path.utf8)
        guard bytes.count <= UnixSocket.maximumPathBytes else {
            throw SystemError(
                code: ENAMETOOLONG, operation: operation, subject: path,
                advice: "the path has \(bytes.count) bytes and a socket's at most \(UnixSocket.maximumPathBytes); "
                    + "choose a shorter one with --socket or $CARPOOL_SOCKET")
        }
        guard !bytes.isEmpty, !bytes.contains(0) else {
            throw SystemError(code: EINVAL, operation: operation, subject: path)
        }
        self.init(bytes: bytes)
    }

    /// The address of a service manager: a path, or `@` and a name that is not in the file system; `nil` if it is
    /// neither.
    init?(service name: String) {
        var bytes = Array(name.utf8)
        guard bytes.count > 1, bytes.count <= UnixSocket.maximumPathBytes, !bytes.contains(0) else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "/"): break
        case UInt8(ascii: "@"): bytes[0] = 0
        default: return nil
        }
        self.init(bytes: bytes)
    }

    private init(bytes: [UInt8]) {
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // An abstract name ends with the length; a path has its terminating zero, which is optional.
        let isAbstract = bytes.first == 0
        let header = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        length = socklen_t(header + bytes.count + (isAbstract ? 0 : 1))
    }

    /// Lends the address to a system call.
    func withPointer(_ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, length) }
        }
    }
}
