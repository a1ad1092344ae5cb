internal import CarpoolSession
internal import CarpoolSystem
internal import Glibc

/// One body in the spool.
final class SpooledBody: SpoolFile {
    let request: String
    /// The name of its file, which no other body has had.
    let name: String
    let owner: ClientIdentity?
    /// Its size so far.
    private(set) var count: Int64 = 0
    private(set) var path: String?
    /// When the lease ends, in microseconds since 1970; `nil` while its request is kept.
    var expires: Int64?
    /// The number of the connection that asked for it, which may have taken another name since.
    var connection = 0

    /// Open for writing until the body is complete: descriptors are few, bodies may be many.
    private var writer: FileWriter?
    private var isRemoved = false
    private unowned let spool: Spool

    init(of request: any BodyOwner, client: ClientIdentity?, name: String, writer: FileWriter, spool: Spool) {
        self.request = request.id
        self.name = name
        owner = client
        self.writer = writer
        self.spool = spool
        writer.onRoom = { [weak request] in request?.continueBody() }
        writer.onFailure = { [weak request] in request?.failToStoreBody(Spool.failure($0)) }
    }

    /// A complete body.
    init(of request: any BodyOwner, client: ClientIdentity?, name: String, count: Int64, spool: Spool) {
        self.request = request.id
        self.name = name
        owner = client
        path = "\(spool.folder.path)/\(name)"
        self.count = count
        self.spool = spool
    }

    var isFull: Bool { writer?.isFull ?? false }

    func write(_ bytes: UnsafeRawBufferPointer) throws(SessionError) {
        guard let writer else { return }
        try spool.reserve(Int64(bytes.count), for: owner)
        count += Int64(bytes.count)
        writer.append(bytes)
    }

    func complete(_ completion: @escaping (Result<[UInt8]?, SessionError>) -> Void) {
        guard let writer else { return completion(.success(nil)) }
        let (path, folder, name) = ("\(spool.folder.path)/\(name)", spool.folder, name)
        writer.performLast { file -> Result<[UInt8]?, SystemError> in
            Result { () throws(SystemError) in
                if let error = file.open() { throw error }
                try file.descriptor?.link(to: name, in: folder.current())
                return file.finishHash()
            }
        } then: { [self] result in
            self.writer = nil
            switch result {
            // It was removed before it was complete.
            case nil: return completion(.success(nil))
            case .failure(let error): completion(.failure(Spool.failure(error)))
            case .success(let hash):
                self.path = path
                if isRemoved { unlinkFile {} }
                completion(.success(hash))
            }
        }
    }

    func discard() { spool.remove(self) }

    /// Removes the file. A file that is removed before it is complete never gets a name.
    func remove(then: @escaping () -> Void) {
        isRemoved = true
        if let writer {
            writer.close()
            self.writer = nil
        }
        unlinkFile(then: then)
    }

    private func unlinkFile(then: @escaping () -> Void) {
        guard path != nil else { return then() }
        path = nil
        spool.unlink(name, of: owner, then: then)
    }

    // MARK: Reading

    func contents(_ completion: @escaping (Result<[UInt8], SessionError>) -> Void) {
        guard !isRemoved else { return completion(.failure(.inputFileNil)) }
        let (path, count) = (path, count)
        guard let path else {
            guard let writer else { return completion(.failure(.inputFileNil)) }
            return writer.perform { file in
                Result { () throws(SystemError) in try file.read(at: 0, count: Int(clamping: count)) }
            } then: {
                completion(SpooledBody.whole($0, nil, count))
            }
        }
        spool.files.run(for: Spool.share(of: owner), { SpooledBody.read(path, count) }) { read in
            completion(read.flatMap { SpooledBody.whole($0, path, count) })
        }
    }

    func contents() throws(SessionError) -> [UInt8] {
        guard let path else { throw .inputFileNil }
        return try SpooledBody.whole(SpooledBody.read(path, count), path, count).get()
    }

    private static func read(_ path: String, _ count: Int64) -> Result<[UInt8], SystemError> {
        Result { () throws(SystemError) in
            try StoredBody.file(path: path, size: count).read(at: 0, count: Int(clamping: count))
        }
    }

    private static func whole(
        _ read: Result<[UInt8], SystemError>?, _ path: String?, _ count: Int64
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
}
