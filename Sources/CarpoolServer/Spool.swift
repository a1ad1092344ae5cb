internal import CarpoolHTTP
internal import CarpoolSession
internal import CarpoolSystem
internal import Glibc

/// The folder of bodies that are too large for a line: each is a file of mode 0600, without a name until it is whole, and gone when it is
/// released, dismissed or its lease is over. The daemon that holds the lock owns the folder, so what it finds there at its start is an orphan.
final class Spool: BodySpool {
    let directory: String
    /// The quotas; those in force now.
    var limits: Limits
    /// Whom the body of a request counts for.
    var ownerOfRequest: (String) -> ClientIdentity? = { _ in nil }

    private var bodies: [String: SpooledBody] = [:]
    private var bytesByClient: [ClientIdentity: Int64] = [:]
    private(set) var totalBytes: Int64 = 0

    init(directory: String, limits: Limits) throws(SystemError) {
        self.directory = directory
        self.limits = limits
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw .last("mkdir", directory) }
        removeOrphans()
    }

    var count: Int { bodies.count }

    /// The body of a request, if it has one here.
    func body(of request: String) -> SpooledBody? { bodies.isEmpty ? nil : bodies[request] }

    func makeFile(for request: Request) throws(SessionError) -> any SpoolFile {
        do throws(SystemError) {
            let file = try FileDescriptor.unnamed(in: directory)
            let body = SpooledBody(request: request.id, owner: ownerOfRequest(request.id), file: file, spool: self)
            bodies[request.id] = body
            return body
        } catch {
            throw Spool.failure(error)
        }
    }

    /// Removes the body of a request; gives whether there was one.
    @discardableResult func release(_ request: String) -> Bool {
        guard let body = bodies[request] else { return false }
        remove(body)
        return true
    }

    /// Removes a body, whole or not. Nothing happens if it is gone already.
    fileprivate func remove(_ body: SpooledBody) {
        guard bodies[body.request] === body else { return }
        bodies[body.request] = nil
        body.close()
        if let path = body.path { unlink(path) }
        body.forgetPath()
        totalBytes -= body.count
        if let owner = body.owner {
            let left = (bytesByClient[owner] ?? 0) - body.count
            bytesByClient[owner] = left > 0 ? left : nil
        }
    }

    /// Removes every body on lease to a client that has gone.
    func releaseLeases(of client: ClientIdentity) {
        for (request, body) in bodies where body.owner == client && body.goesWithClient { release(request) }
    }

    /// Whether a client has bodies on lease.
    func hasLeases(of client: ClientIdentity) -> Bool {
        bytesByClient[client] != nil && bodies.values.contains { $0.owner == client && $0.goesWithClient }
    }

    /// Removes every body whose lease is over.
    func releaseExpired(at time: Int64) {
        for (request, body) in bodies where (body.expires ?? .max) <= time { release(request) }
    }

    /// Removes everything, as the daemon ends.
    func removeAll() {
        for request in Array(bodies.keys) { release(request) }
        rmdir(directory)
    }

    /// Takes room for bytes that are about to be written.
    fileprivate func reserve(_ count: Int64, for owner: ClientIdentity?) throws(SessionError) {
        let own = owner.flatMap { bytesByClient[$0] } ?? 0
        guard totalBytes + count <= Int64(limits.spoolBytes), own + count <= Int64(limits.spoolBytesPerClient) else {
            throw SessionError(
                "spool_full", "the response is larger than the room that is left in the spool",
                hint: "release bodies with body.release, or raise limits.spool_bytes_per_client and limits.spool_bytes")
        }
        totalBytes += count
        if let owner { bytesByClient[owner] = own + count }
    }

    fileprivate static func failure(_ error: SystemError) -> SessionError {
        let isFull = error.code == ENOSPC || error.code == EDQUOT
        return SessionError(
            isFull ? "disk_full" : "cannot_write_to_file", "cannot keep the response: \(error)",
            hint: "the spool lies under $XDG_CACHE_HOME/carpool")
    }

    private func removeOrphans() {
        guard let folder = opendir(directory) else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasPrefix("r_") { unlink("\(directory)/\(name)") }
        }
    }
}

/// One body in the spool.
final class SpooledBody: SpoolFile {
    let request: String
    let owner: ClientIdentity?
    /// Its size so far.
    private(set) var count: Int64 = 0
    private(set) var path: String?
    /// When it goes, in microseconds since 1970; `nil` while its request is kept.
    var expires: Int64?
    /// Whether it goes when the last connection of its client does.
    var goesWithClient = false

    /// Open until the body is whole: descriptors are few, bodies may be many.
    private var file: FileDescriptor?
    private var isRemoved = false
    private unowned let spool: Spool

    fileprivate init(request: String, owner: ClientIdentity?, file: consuming FileDescriptor, spool: Spool) {
        self.request = request
        self.owner = owner
        self.file = consume file
        self.spool = spool
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(SessionError) {
        guard let fd = file?.raw else { return }
        try spool.reserve(Int64(bytes.count), for: owner)
        count += Int64(bytes.count)
        do throws(SystemError) { try Bytes.writeAll(fd, bytes) } catch { throw Spool.failure(error) }
    }

    func complete() throws(SessionError) {
        guard path == nil, file != nil else { return }
        let path = "\(spool.directory)/\(request)"
        do throws(SystemError) { try file?.link(to: path) } catch { throw Spool.failure(error) }
        self.path = path
        file = nil
    }

    func discard() { spool.remove(self) }

    func contents() throws(SessionError) -> [UInt8] {
        guard !isRemoved else { throw .inputFileNil }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try piece(at: 0, count: Int(clamping: count))
        } catch {
            throw .inputFileReadFailed(path: path, reason: error.description)
        }
        guard bytes.count == count else {
            throw .inputFileReadFailed(path: path, reason: "it has only \(bytes.count) of \(count) bytes")
        }
        return bytes
    }

    /// Without its descriptor it can neither grow nor get a name: a file that is removed before it is whole leaves nothing behind.
    fileprivate func close() {
        file = nil
        isRemoved = true
    }

    /// There is nothing at its path any more.
    fileprivate func forgetPath() { path = nil }

    /// Reads a piece of a whole body: fewer bytes than asked for at the end, none behind it.
    func read(at offset: Int64, count wanted: Int) throws(SystemError) -> [UInt8] {
        // The kernel refuses an offset whose end is beyond what it can count.
        guard path != nil, offset >= 0, offset < count else { return [] }
        return try piece(at: offset, count: wanted)
    }

    /// From the descriptor while it has no name, else from its file.
    private func piece(at offset: Int64, count wanted: Int) throws(SystemError) -> [UInt8] {
        if let unnamed = file?.raw { return try Self.read(unnamed, spool.directory, at: offset, count: wanted) }
        guard let path else { return [] }
        let opened = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
        return try Self.read(opened.raw, path, at: offset, count: wanted)
    }

    private static func read(
        _ fd: Int32, _ subject: String, at offset: Int64, count wanted: Int
    ) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: wanted)
        let read = pread(fd, &bytes, wanted, Int(offset))
        guard read >= 0 else { throw .last("pread", subject) }
        return Array(bytes[..<read])
    }
}
