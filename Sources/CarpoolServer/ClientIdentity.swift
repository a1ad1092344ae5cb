internal import CarpoolHTTP
internal import CarpoolSystem

/// Who a client is, beyond one connection: its user, and the name that it gave or else that of its program. Quotas and the scope `mine` go by it.
struct ClientIdentity: Hashable {
    let uid: UInt32
    let name: String

    /// The name of a process as the kernel knows it (proc(5), `comm`): 15 bytes at most. A process that is gone has none.
    static func programName(ofProcess pid: Int32) -> String {
        guard let file = try? FileDescriptor.open("/proc/\(pid)/comm", 0) else { return "unknown" }
        var buffer = [UInt8](repeating: 0, count: 64)
        guard case .bytes(let count) = buffer.withUnsafeMutableBytes({ Bytes.read(file.raw, into: $0) }) else {
            return "unknown"
        }
        return String(decoding: buffer[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    }
}

extension ClientIdentity {
    /// Its name for those who divide connections fairly.
    var share: TransferShare { TransferShare(user: uid, client: hashValue) }
}
