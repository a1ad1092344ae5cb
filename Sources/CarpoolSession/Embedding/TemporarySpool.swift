internal import CarpoolSystem
internal import Glibc

/// Stores the large bodies of an embedded session: files of a temporary directory that never have a name, so that
/// nothing remains of them, however the program ends.
final class TemporarySpool: BodySpool {
    private let directory: String
    /// The bytes of all bodies.
    fileprivate(set) var bytes: Int64 = 0

    /// The most bytes of all bodies at a time: 4 GiB, as in the daemon.
    static let limitBytes: Int64 = 4_294_967_296

    private let files: FileStore

    init(directory: String, files: FileStore) {
        self.directory = directory
        self.files = files
    }

    func makeFile(for owner: any BodyOwner, isHashed: Bool) throws(SessionError) -> any SpoolFile {
        let directory = directory
        let writer = FileWriter(files, share: files.shareOfRequest(owner), isHashed: isHashed) { file in
            do throws(SystemError) {
                file.descriptor = try FileDescriptor.unnamed(in: directory)
                return nil
            } catch {
                return error
            }
        }
        return TemporaryBody(writer, owner, spool: self)
    }

    fileprivate static func failure(_ error: SystemError) -> SessionError {
        if let shortage = SessionError.shortage(error) { return shortage }
        let isFull = error.code == ENOSPC || error.code == EDQUOT
        return SessionError(
            isFull ? "disk_full" : "cannot_write_to_file", "cannot store the response: \(error)",
            hint: "set temporaryDirectory to a directory with free space")
    }
}

/// One body; its file is removed with it.
private final class TemporaryBody: SpoolFile {
    private let writer: FileWriter
    private let spool: TemporarySpool
    private var count: Int64 = 0
    /// The descriptor's number once the body is complete. The writer keeps it open.
    private var descriptor: Int32?

    init(_ writer: FileWriter, _ owner: any BodyOwner, spool: TemporarySpool) {
        self.writer = writer
        self.spool = spool
        writer.onRoom = { [weak owner] in owner?.continueBody() }
        writer.onFailure = { [weak owner] in owner?.failToStoreBody(TemporarySpool.failure($0)) }
    }

    deinit { spool.bytes -= count }

    /// A path that this process can open as long as the body is kept.
    var path: String? { descriptor.map { "/proc/self/fd/\($0)" } }

    var isFull: Bool { writer.isFull }

    func write(_ bytes: UnsafeRawBufferPointer) throws(SessionError) {
        guard descriptor == nil else { return }
        guard spool.bytes + Int64(bytes.count) <= TemporarySpool.limitBytes else {
            throw SessionError("spool_full", "the stored bodies take \(TemporarySpool.limitBytes) bytes, the limit")
        }
        spool.bytes += Int64(bytes.count)
        count += Int64(bytes.count)
        writer.append(bytes)
    }

    func complete(_ completion: @escaping (Result<[UInt8]?, SessionError>) -> Void) {
        writer.perform {
            (file) -> (hash: [UInt8]?, raw: Int32, error: SystemError?) in
            let error = file.open()
            return (file.hash?.finish(), file.descriptor?.raw ?? -1, error)
        } then: { [weak self] result in
            // The file was discarded.
            guard let result else { return completion(.success(nil)) }
            if let error = result.error { return completion(.failure(TemporarySpool.failure(error))) }
            self?.descriptor = result.raw
            completion(.success(result.hash))
        }
    }

    func contents(_ completion: @escaping (Result<[UInt8], SessionError>) -> Void) {
        let (wanted, path) = (count, path)
        writer.perform { (file) -> Result<[UInt8], SystemError> in
            Result { () throws(SystemError) in try file.read(at: 0, count: Int(clamping: wanted)) }
        } then: {
            completion(TemporaryBody.whole($0, count: wanted, path))
        }
    }

    func contents() throws(SessionError) -> [UInt8] {
        guard let descriptor else { throw .inputFileNil }
        let wanted = count
        let bytes = Result { () throws(SystemError) in
            try FilePiece.read(descriptor, at: 0, count: Int(clamping: wanted))
        }
        return try TemporaryBody.whole(bytes, count: wanted, path).get()
    }

    private static func whole(
        _ read: Result<[UInt8], SystemError>?, count: Int64, _ path: String?
    ) -> Result<[UInt8], SessionError> {
        switch read {
        case nil: return .failure(.inputFileNil)
        case .failure(let error): return .failure(.inputFileReadFailed(path: path, error))
        case .success(let bytes) where bytes.count == count: return .success(bytes)
        case .success(let bytes):
            let reason = "it has only \(bytes.count) of \(count) bytes"
            return .failure(.inputFileReadFailed(path: path, reason: reason))
        }
    }

    func discard() {
        writer.close()
        descriptor = nil
        spool.bytes -= count
        count = 0
    }
}
