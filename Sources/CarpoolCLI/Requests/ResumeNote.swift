internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The resume data of a download, in a file beside its destination (`.NAME.carpool-resume`), for `-C -`.
///
/// The folder may belong to another user. So the note is used only if it is a regular file of this user that nobody
/// else can write, no link is followed, nothing waits for a pipe, and the note may name only a partial file beside the
/// destination.
struct ResumeNote {
    private let folderPath: String
    private let name: String
    /// How the names of the partial files beside the destination begin.
    private let beginning: String

    /// The maximum size of resume data.
    private static let maximumBytes = 65_536

    /// The note of a destination, which is an absolute path.
    init(of destination: String) {
        let slash = destination.utf8.lastIndex(of: UInt8(ascii: "/")) ?? destination.startIndex
        folderPath = slash == destination.startIndex ? "/" : String(destination[..<slash])
        beginning = ".\(destination[slash...].dropFirst())."
        name = "\(beginning)carpool-resume"
    }

    private var folder: Folder? { try? Folder.resolving(folderPath) }

    /// The resume data of an earlier download; `nil` if there is none that may be used.
    var resumeData: String? {
        guard let folder, let data = read(in: folder), part(of: data, in: folder) != nil else { return nil }
        return data
    }

    private func read(in folder: Folder) -> String? {
        guard let note = ResumeNote.own(name, in: folder, O_RDONLY),
            let bytes = try? Bytes.readAll(note.raw, atMost: ResumeNote.maximumBytes, path: name)
        else { return nil }
        return String(validating: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
    }

    /// Opens a regular file of this user that others cannot write; `nil` for everything else. Never waits.
    private static func own(_ name: String, in folder: Folder, _ flags: Int32) -> FileDescriptor? {
        guard let file = try? folder.open(name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) else { return nil }
        var status = stat()
        guard fstat(file.raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o022 == 0
        else { return nil }
        return file
    }

    /// Stores resume data in place of that of an earlier download. Returns false if that failed, as on a full disk:
    /// what has arrived is deleted, and the next download starts from the beginning.
    @discardableResult
    func save(_ resumeData: String) -> Bool {
        guard let folder else { return false }
        let earlier = earlierPart(in: folder)
        let own = part(of: resumeData, in: folder)
        guard write(resumeData, in: folder) else {
            if let own { ResumeNote.delete(part: own, in: folder) }
            return false
        }
        if let earlier, earlier != own { ResumeNote.delete(part: earlier, in: folder) }
        return true
    }

    /// Writes a new file, which only this user can read because a URL may contain secrets, and renames it.
    private func write(_ resumeData: String, in folder: Folder) -> Bool {
        let temporary = Folder.temporaryName()
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        guard let file = try? folder.open(temporary, flags, mode: 0o600) else { return false }
        let bytes = Array("\(resumeData)\n".utf8)
        let isWritten = (try? BlockingOutput(borrowing: file.raw).write(bytes)) != nil
        if isWritten, (try? folder.rename(temporary, to: name, in: folder, replaces: true)) != nil { return true }
        try? folder.unlink(temporary)
        return false
    }

    /// Deletes the resume data, and what an earlier download has left.
    func delete() {
        guard let folder else { return }
        if let earlier = earlierPart(in: folder) { ResumeNote.delete(part: earlier, in: folder) }
        // Of another user or another kind, it is not this program's to delete.
        if ResumeNote.own(name, in: folder, O_RDONLY) != nil { try? folder.unlink(name) }
    }

    /// Deletes received bytes that no download writes: a lease for writing is given only while no process has the file
    /// open (fcntl(2)).
    private static func delete(part: String, in folder: Folder) {
        guard let file = own(part, in: folder, O_RDONLY), fcntl(file.raw, setLease, Int32(F_WRLCK)) == 0 else { return }
        try? folder.unlink(part)
    }

    /// `F_SETLEASE`, which Swift does not import.
    private static let setLease: Int32 = 1_024

    private func earlierPart(in folder: Folder) -> String? {
        read(in: folder).flatMap { part(of: $0, in: folder) }
    }

    /// The name of the file of the bytes that have arrived; `nil` unless it is one beside the destination, with the
    /// name that the daemon gives it.
    private func part(of resumeData: String, in folder: Folder) -> String? {
        // Base64url without padding (RFC 4648, section 5).
        var standard = resumeData.utf8.map {
            $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0
        }
        standard += repeatElement(UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        let place = folder.path == "/" ? "/" : "\(folder.path)/"
        guard let text = standard.withUnsafeBytes({ try? Base64.decode($0) }),
            let path = (try? JSON.parse(text))?["partial"]?.string, path.hasPrefix(place)
        else { return nil }
        let name = String(path.dropFirst(place.count))
        guard name.hasPrefix(beginning), name.hasSuffix(".carpool-part"), !name.contains("/") else { return nil }
        return name
    }
}
