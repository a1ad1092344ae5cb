import CarpoolSession

/// A spool in memory, which fails where a test wants it to.
final class ScriptedSpool: BodySpool {
    enum Step { case make, write, complete, read }

    /// Where it fails, if it does.
    var failure: Step?
    private(set) var files: [ScriptedFile] = []

    func makeFile(for request: Request) throws(SessionError) -> any SpoolFile {
        if failure == .make { throw SessionError("cannot_write_to_file", "no room for a file") }
        let file = ScriptedFile(name: request.id, spool: self)
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

    init(name: String, spool: ScriptedSpool) {
        self.name = name
        self.spool = spool
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(SessionError) {
        if spool.failure == .write { throw SessionError("disk_full", "no room for bytes") }
        self.bytes += bytes
    }

    func complete() throws(SessionError) {
        if spool.failure == .complete { throw SessionError("disk_full", "no room for a name") }
        path = "/spool/\(name)"
    }

    func contents() throws(SessionError) -> [UInt8] {
        if spool.failure == .read { throw .inputFileReadFailed(path: path, reason: "no such file") }
        return bytes
    }

    func discard() { isDiscarded = true }
}
