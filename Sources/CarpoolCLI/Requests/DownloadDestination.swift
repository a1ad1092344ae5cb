internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The destination of a download that the daemon writes: a regular file, or a path where none exists yet.
struct DownloadDestination {
    /// The path as the user typed it.
    let name: String
    /// The absolute path.
    private let path: String

    /// `nil` if the command has to write it itself: pipes, devices, its own descriptors such as `/dev/stdout`, output
    /// with a header, and daemons of another user.
    init?(_ name: String, _ request: RequestArguments, _ daemon: DaemonAccess) {
        guard let place = OutputFile.place(of: name) else { return nil }
        var info = stat()
        let isThere = stat(place, &info) == 0
        guard !request.printsHead, !isThere || info.st_mode & S_IFMT == S_IFREG, daemon.isOurs else { return nil }
        self.name = name
        path = SocketLocation.absolute(place)
    }

    /// Writes the member `destination`. Without `--fail` the body of an error response is saved too.
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

    // MARK: Resume data

    private var resumeDataPath: String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.index(after: $0) } ?? path.startIndex
        return "\(path[..<slash]).\(path[slash...]).carpool-resume"
    }

    /// The maximum size of resume data.
    private static let maximumResumeDataBytes = 65_536

    /// The resume data of an earlier download, stored beside the file; `nil` if there is none.
    var resumeData: String? {
        guard let note = try? FileDescriptor.open(resumeDataPath, O_RDONLY) else { return nil }
        var bytes = [UInt8](repeating: 0, count: DownloadDestination.maximumResumeDataBytes)
        guard case .bytes(let count) = bytes.withUnsafeMutableBytes({ Bytes.read(note.raw, into: $0) }) else {
            return nil
        }
        return String(validating: bytes[..<count].prefix { $0 > 0x20 }, as: UTF8.self)
    }

    /// Stores resume data beside the file, for `-C -`, in place of that of an earlier download. Returns false if that
    /// failed, as on a full disk: what has arrived is deleted, and the next download starts from the beginning.
    @discardableResult
    func save(_ resumeData: String) -> Bool {
        let earlier = self.resumeData.flatMap(part)
        let own = part(of: resumeData)
        guard write(resumeData) else {
            if let own { DownloadDestination.delete(part: own) }
            return false
        }
        if let earlier, earlier != own { DownloadDestination.delete(part: earlier) }
        return true
    }

    private func write(_ resumeData: String) -> Bool {
        guard let note = try? OutputFile(resumeDataPath) else { return false }
        // A URL may contain secrets.
        fchmod(note.descriptor.raw, 0o600)
        let bytes = Array("\(resumeData)\n".utf8)
        guard (try? BlockingOutput(borrowing: note.descriptor.raw).write(bytes)) != nil else { return false }
        return (try? note.commit()) != nil
    }

    /// Deletes the resume data, and what an earlier download has left.
    func deleteResumeData() {
        if let earlier = resumeData.flatMap(part) { DownloadDestination.delete(part: earlier) }
        unlink(resumeDataPath)
    }

    /// Deletes received bytes that no download writes: a lease for writing is given only while no process has the file
    /// open (fcntl(2)).
    private static func delete(part: String) {
        guard let file = try? FileDescriptor.open(part, O_RDONLY), fcntl(file.raw, setLease, Int32(F_WRLCK)) == 0
        else { return }
        unlink(part)
    }

    /// `F_SETLEASE`, which Swift does not import.
    private static let setLease: Int32 = 1_024

    /// The file of the bytes that have arrived; `nil` unless it is one beside the destination, with the name that the
    /// daemon gives it.
    private func part(of resumeData: String) -> String? {
        // Base64url without padding (RFC 4648, section 5).
        var standard = resumeData.utf8.map {
            $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0
        }
        standard += repeatElement(UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        let beginning = resumeDataPath.dropLast("carpool-resume".count)
        guard let text = standard.withUnsafeBytes({ try? Base64.decode($0) }),
            let path = (try? JSON.parse(text))?["partial"]?.string,
            path.hasPrefix(beginning), path.hasSuffix(".carpool-part"),
            !path.dropFirst(beginning.count).contains("/")
        else { return nil }
        return path
    }
}
