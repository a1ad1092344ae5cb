internal import CarpoolSystem
internal import Glibc

/// Keeps the large bodies of a program's own session: files of a temporary directory that never have a name, so that nothing is left of them,
/// however the program ends.
final class TemporarySpool: BodySpool {
    private let directory: String
    /// What all bodies take now.
    fileprivate(set) var bytes: Int64 = 0

    /// The most bytes of all bodies that are kept at a time: 4 GiB, as in the daemon.
    static let limitBytes: Int64 = 4_294_967_296

    init(directory: String) { self.directory = directory }

    func makeFile(for request: Request) throws(SessionError) -> any SpoolFile {
        do throws(SystemError) {
            return TemporaryBody(try FileDescriptor.unnamed(in: directory), spool: self)
        } catch {
            throw TemporarySpool.failure(error)
        }
    }

    fileprivate static func failure(_ error: SystemError) -> SessionError {
        let isFull = error.code == ENOSPC || error.code == EDQUOT
        return SessionError(
            isFull ? "disk_full" : "cannot_write_to_file", "cannot keep the response: \(error)",
            hint: "name a directory with room as temporaryDirectory")
    }
}

/// One body; its file goes with it.
private final class TemporaryBody: SpoolFile {
    private var file: FileDescriptor?
    private let spool: TemporarySpool
    private var count: Int64 = 0
    private var isComplete = false

    init(_ file: consuming FileDescriptor, spool: TemporarySpool) {
        self.file = consume file
        self.spool = spool
    }

    deinit { spool.bytes -= count }

    /// What this process can open as long as the body is kept.
    var path: String? {
        guard isComplete, let fd = file?.raw else { return nil }
        return "/proc/self/fd/\(fd)"
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(SessionError) {
        guard let fd = file?.raw else { return }
        guard spool.bytes + Int64(bytes.count) <= TemporarySpool.limitBytes else {
            throw SessionError("spool_full", "all bodies that are kept take \(TemporarySpool.limitBytes) bytes")
        }
        spool.bytes += Int64(bytes.count)
        count += Int64(bytes.count)
        do throws(SystemError) { try Bytes.writeAll(fd, bytes) } catch { throw TemporarySpool.failure(error) }
    }

    func complete() throws(SessionError) { isComplete = true }

    func contents() throws(SessionError) -> [UInt8] {
        guard let fd = file?.raw else { throw .inputFileNil }
        var bytes = [UInt8](repeating: 0, count: Int(clamping: count))
        let wanted = bytes.count
        let read = pread(fd, &bytes, wanted, 0)
        guard read == wanted else {
            let reason = read < 0 ? SystemError.last("pread").description : "it has only \(read) of \(wanted) bytes"
            throw .inputFileReadFailed(path: path, reason: reason)
        }
        return bytes
    }

    func discard() {
        file = nil
        spool.bytes -= count
        count = 0
    }
}
