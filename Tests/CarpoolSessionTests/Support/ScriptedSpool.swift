@testable import CarpoolSession

/// A spool in memory, which fails at the operation that a test sets.
final class ScriptedSpool: BodySpool {
    enum Step { case make, write, complete, read }

    /// Whether the completion of a file waits until the test calls it.
    var isSlow = false
    var completions: [() -> Void] = []
    /// The operation that fails, if any.
    var failure: Step?
    private(set) var files: [ScriptedFile] = []

    func makeFile(for owner: any BodyOwner, isHashed: Bool) throws(SessionError) -> any SpoolFile {
        if failure == .make { throw SessionError("cannot_write_to_file", "no room for a file") }
        let file = ScriptedFile(name: owner.id, isHashed: isHashed, spool: self)
        files.append(file)
        return file
    }
}

/// One body in it.
final class ScriptedFile: SpoolFile {
    let name: String
    private let spool: ScriptedSpool
    private(set) var bytes: [UInt8] = []
    private(set) var path: String?
    private(set) var isDiscarded = false

    private let isHashed: Bool

    init(name: String, isHashed: Bool, spool: ScriptedSpool) {
        self.name = name
        self.isHashed = isHashed
        self.spool = spool
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(SessionError) {
        if spool.failure == .write { throw SessionError("disk_full", "no room for bytes") }
        self.bytes += bytes
    }

    /// Whether the test has set that too much waits to be written.
    var isFull = false

    func complete(_ completion: @escaping (Result<[UInt8]?, SessionError>) -> Void) {
        if spool.failure == .complete { return completion(.failure(SessionError("disk_full", "no room for a name"))) }
        let end = { [self] in
            path = "/spool/\(name)"
            completion(.success(isHashed ? SHA256Hash.of(bytes) : nil))
        }
        if spool.isSlow { spool.completions.append(end) } else { end() }
    }

    func contents(_ completion: @escaping (Result<[UInt8], SessionError>) -> Void) {
        do throws(SessionError) { completion(.success(try contents())) } catch { completion(.failure(error)) }
    }

    func contents() throws(SessionError) -> [UInt8] {
        if spool.failure == .read { throw .inputFileReadFailed(path: path, reason: "no such file") }
        return bytes
    }

    func discard() { isDiscarded = true }
}
