internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// A place of which the daemon can make a download's destination: a file of ours, or none yet.
struct DownloadPlace {
    /// As it was typed.
    let name: String
    /// Absolute.
    private let path: String

    /// `nil` for what this command has to write itself: pipes, devices, a header before the body, and what another user's daemon could not.
    init?(_ name: String, _ request: RequestArguments, _ daemon: DaemonAccess) {
        var info = stat()
        let isThere = stat(name, &info) == 0
        guard !request.printsHead, !isThere || info.st_mode & S_IFMT == S_IFREG, daemon.isOurs else { return nil }
        self.name = name
        path = SocketLocation.absolute(name)
    }

    /// Writes the member `destination`. Without `--fail` a page of error is what was asked for.
    func write(to writer: inout JSONWriter, failsOnStatus: Bool) {
        let mask = umask(0)
        umask(mask)
        writer.key("destination")
        writer.beginObject()
        writer.member("path", path)
        writer.member("remove_previous", true)
        writer.member("umask", Int(mask))
        if !failsOnStatus { writer.member("validate_before_move", false) }
        writer.endObject()
    }

    // MARK: What an earlier download has left

    private var notePath: String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.index(after: $0) } ?? path.startIndex
        return "\(path[..<slash]).\(path[slash...]).carpool-resume"
    }

    /// The most that is read of a note.
    private static let noteBytes = 65_536

    /// The token that lies beside the file; `nil` without one.
    var resumeData: String? {
        guard let note = try? FileDescriptor.open(notePath, O_RDONLY) else { return nil }
        var bytes = [UInt8](repeating: 0, count: DownloadPlace.noteBytes)
        guard case .bytes(let count) = bytes.withUnsafeMutableBytes({ Bytes.read(note.raw, into: $0) }) else {
            return nil
        }
        return String(validating: bytes[..<count].prefix { $0 > 0x20 }, as: UTF8.self)
    }

    /// Keeps a token beside the file, for `-C -`. Where that cannot be, the next download begins anew.
    func keep(_ resumeData: String) {
        guard let note = try? OutputFile(notePath) else { return }
        // A URL may hold what is nobody else's business.
        fchmod(note.descriptor.raw, 0o600)
        let bytes = Array("\(resumeData)\n".utf8)
        guard (try? BlockingOutput(borrowing: note.descriptor.raw).write(bytes)) != nil else { return }
        try? note.commit()
    }

    /// Nothing is left to go on with.
    func forget() { unlink(notePath) }
}
