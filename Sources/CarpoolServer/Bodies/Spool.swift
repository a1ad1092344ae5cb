internal import CarpoolHTTP
internal import CarpoolSession
internal import CarpoolSystem
internal import Glibc

/// The directory of bodies that are too large for a line. Each is a file of mode 0600 that has no name until it is
/// complete, and is removed when it is released, dismissed or its lease has expired. The daemon that holds the lock
/// owns the directory, so files that it finds there at its start are orphans.
final class Spool: BodySpool {
    let folder: SpoolFolder
    /// The quotas in force.
    var limits: Limits
    /// Returns the client that the body of a request counts for.
    var clientOfOwner: (any BodyOwner) -> ClientIdentity? = { _ in nil }

    private var bodies: [String: SpooledBody] = [:]
    /// The number in the last name that was given to a file.
    private var lastName = 0
    private var leases = LeaseTable()
    private var quota = Quota()
    private(set) var totalBytes: Int64 = 0

    let files: FileStore

    init(directory: String, limits: Limits, files: FileStore) throws(SystemError) {
        folder = try SpoolFolder(directory)
        self.limits = limits
        self.files = files
        folder.removeOrphans()
    }

    var count: Int { bodies.count }

    /// The body of a request, if it has one here.
    func body(of request: String) -> SpooledBody? { bodies.isEmpty ? nil : bodies[request] }

    func makeFile(for owner: any BodyOwner, isHashed: Bool) throws(SessionError) -> any SpoolFile {
        let (client, folder) = (clientOfOwner(owner), folder)
        let writer = FileWriter(files, share: Spool.share(of: client), isHashed: isHashed) { file in
            do throws(SystemError) {
                file.descriptor = try folder.unnamedFile()
                return nil
            } catch {
                return error
            }
        }
        let body = SpooledBody(of: owner, client: client, name: newName(for: owner), writer: writer, spool: self)
        bodies[owner.id] = body
        return body
    }

    func path(for owner: any BodyOwner) -> String? { "\(folder.path)/\(newName(for: owner))" }

    /// A name for the file of a body. A request may have several bodies, one after the other, and the file of one may
    /// still get its name or be removed when the next one is complete.
    private func newName(for owner: any BodyOwner) -> String {
        lastName += 1
        return "\(owner.id)_\(String(lastName, radix: 36))"
    }

    func adoptFile(at path: String, count: Int64, for owner: any BodyOwner) throws(SessionError) -> any SpoolFile {
        let client = clientOfOwner(owner)
        let name = String(path.split(separator: "/").last ?? "")
        do throws(SessionError) { try reserve(count, for: client) } catch {
            unlink(name, of: client) {}
            throw error
        }
        let body = SpooledBody(of: owner, client: client, name: name, count: count, spool: self)
        bodies[owner.id] = body
        return body
    }

    static func share(of owner: ClientIdentity?) -> WorkerShare {
        owner?.workerShare ?? .process
    }

    /// Removes the body of a request. Returns whether there was one. `then` is called when the file is removed.
    @discardableResult func release(_ request: String, then: @escaping () -> Void = {}) -> Bool {
        guard let body = bodies[request] else {
            then()
            return false
        }
        remove(body, then: then)
        return true
    }

    /// Removes a body, complete or not. Does nothing if it has been removed already.
    func remove(_ body: SpooledBody, then: @escaping () -> Void = {}) {
        guard bodies[body.request] === body else { return then() }
        bodies[body.request] = nil
        leases.remove(body.request, connection: body.connection)
        body.remove(then: then)
        totalBytes -= body.count
        if let owner = body.owner { quota.giveBack(Int(body.count), for: owner) }
    }

    /// Keeps a body until a time, after its request was dismissed.
    /// - Parameter connection: the connection that asked for it, if the body goes with that; else `nil`.
    func lease(_ body: SpooledBody, until time: Int64, connection: Int?) {
        body.expires = time
        guard let connection else { return }
        body.connection = connection
        leases.add(body.request, connection: connection)
    }

    /// Removes the bodies that are leased by a connection.
    func endLeases(of connection: Int) {
        for request in leases.requests(of: connection) { release(request) }
    }

    /// Removes every body whose lease is over.
    func releaseExpired(at time: Int64) {
        for (request, body) in bodies where (body.expires ?? .max) <= time { release(request) }
    }

    /// Removes everything when the daemon ends, then calls the body.
    func removeAll(then: @escaping () -> Void) {
        for request in Array(bodies.keys) { release(request) }
        let directory = folder.path
        whenRemoved { [self] in
            files.run(for: .process, { _ = rmdir(directory) }, then: { _ in then() })
        }
    }

    /// Removals that are not done yet.
    private var removals = 0
    private var removalFollowers: [() -> Void] = []

    private func whenRemoved(_ body: @escaping () -> Void) {
        if removals == 0 { body() } else { removalFollowers.append(body) }
    }

    /// Removes the file of a body.
    func unlink(_ name: String, of owner: ClientIdentity?, then: @escaping () -> Void) {
        removals += 1
        files.runAlways(for: Spool.share(of: owner), { [folder] in folder.unlink(name) }) { [self] in
            then()
            didRemove()
        }
    }

    private func didRemove() {
        removals -= 1
        guard removals == 0 else { return }
        let waiting = removalFollowers
        removalFollowers = []
        for follower in waiting { follower() }
    }

    /// Takes room for bytes that are about to be written.
    func reserve(_ count: Int64, for owner: ClientIdentity?) throws(SessionError) {
        // A request without a client, such as one for a token, counts only in the total.
        if let owner {
            if let refusal = quota.refusal(of: Int(count), for: owner, limits.spoolBounds) {
                throw Spool.full(refusal.limit, refusal.value)
            }
            quota.take(Int(count), for: owner)
        } else if totalBytes + count > Int64(limits.spoolBytes) {
            throw Spool.full("spool_bytes", limits.spoolBytes)
        }
        totalBytes += count
    }

    private static func full(_ limit: String, _ value: Int) -> SessionError {
        SessionError(
            "spool_full",
            "the response is larger than the room that is left in the spool, which has \(value) bytes (limits.\(limit))",
            hint: "release bodies with body.release, or raise limits.\(limit)")
    }

    static func failure(_ error: SystemError) -> SessionError {
        if let shortage = SessionError.shortage(error) { return shortage }
        let isFull = error.code == ENOSPC || error.code == EDQUOT
        return SessionError(
            isFull ? "disk_full" : "cannot_write_to_file", "cannot store the response: \(error)",
            hint: "the spool lies under $XDG_CACHE_HOME/carpool")
    }
}
