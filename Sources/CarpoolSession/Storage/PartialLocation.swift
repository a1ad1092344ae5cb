internal import CarpoolSystem
internal import Glibc

/// The path of a download's partial file and its destination, as the jobs of its ``FileWriter`` use them. Both
/// directories are opened once; files are found in them by name and compared with what was opened.
///
/// `@unchecked Sendable` because only the jobs of one queue touch it, one at a time and in order.
final class PartialLocation: @unchecked Sendable {
    /// The path of the partial file.
    let path: String
    private let index: PartialFileIndex?
    private var folder: Folder?
    private(set) var identity: FileStatus.Identity?
    private var target: Folder?
    private var isMoved = false
    /// Whether a later request may resume from the file; not so if the index has no entry for it.
    private(set) var isResumable = true

    init(path: String, index: PartialFileIndex?) {
        self.path = path
        self.index = index
    }

    /// The location of a file that was opened before.
    init(path: String, folder: Folder, identity: FileStatus.Identity, index: PartialFileIndex?) {
        self.path = path
        self.folder = folder
        self.identity = identity
        self.index = index
    }

    private var name: String { PartialLocation.split(path).name }

    /// Splits a path into directory and name.
    static func split(_ path: String) -> (folder: String, name: String) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[slash...].dropFirst()))
    }

    // MARK: Beginning

    /// Opens the directory of the destination, and creates it if requested.
    /// - Parameter isResolved: whether the path has no symbolic links, so that one that is found now was created since.
    func openTarget(_ path: String, _ options: DownloadOptions, isResolved: Bool) -> SystemError? {
        let folder = PartialLocation.split(path).folder
        let mode = options.createsIntermediateDirectories ? 0o777 & ~options.umask : nil
        do throws(SystemError) {
            target =
                isResolved
                ? try Folder(folder, missingMode: mode) : try Folder.resolving(folder, missingMode: mode)
            return nil
        } catch {
            return error
        }
    }

    /// Creates an empty file of mode 0600 in the directory of the destination, locked, so that no other request
    /// continues it meanwhile.
    func create(for request: String) throws(SystemError) -> FileDescriptor {
        guard let target else { throw SystemError(code: ENOENT, operation: "open", subject: path) }
        folder = target
        let opened = try target.open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        flock(opened.raw, LOCK_EX | LOCK_NB)
        identity = try FileStatus(of: opened.raw).identity
        isResumable = index?.add(path, request: request) ?? true
        return opened
    }

    // MARK: Ending

    /// Renames the file to its final name, in one step. EEXIST if a file exists that may not be replaced, or anything
    /// but a regular file; ENOENT if the partial file is no longer at its path.
    func move(_ file: BackgroundFile, to destination: String, _ options: DownloadOptions) throws(SystemError) {
        if let error = file.failure { throw error }
        guard let folder, let target, let fd = file.descriptor?.raw else {
            throw SystemError(code: EBADF, operation: "rename", subject: path)
        }
        let newName = PartialLocation.split(destination).name
        if let there = try? target.status(of: newName), there.kind != .regular, there.kind != .link {
            let code = there.kind == .directory ? EISDIR : EEXIST
            throw SystemError(code: code, operation: "rename", subject: destination)
        }
        guard try folder.status(of: name).identity == identity else {
            throw SystemError(code: ENOENT, operation: "rename", subject: path)
        }
        guard fchmod(fd, 0o666 & ~options.umask) == 0 else { throw .last("fchmod", path) }
        file.record?.erase(from: fd)
        try folder.rename(name, to: newName, in: target, replaces: options.removesPreviousFile)
        isMoved = true
        index?.remove(path)
        file.close()
        self.folder = nil
        self.target = nil
    }

    /// Removes the file, unless it has its final name or another file is at its path.
    func remove() {
        guard !isMoved, let folder else { return }
        if let there = try? folder.status(of: name), there.identity == identity { try? folder.unlink(name) }
        index?.remove(path)
        close()
    }

    /// Closes the directories.
    func close() {
        folder = nil
        target = nil
    }
}
