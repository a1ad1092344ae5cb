internal import CarpoolSystem
internal import Glibc

/// The path of a download's partial file and its destination, as the jobs of its ``FileWriter`` use them. Both
/// directories are opened once; files are found in them by name and compared with what was opened.
///
/// `@unchecked Sendable` because only the jobs of one queue touch it, one at a time and in order.
final class PartialLocation: @unchecked Sendable {
    /// The path of the partial file, unless it is in the ``SpareFolder``.
    let path: String
    /// The path at which it was made.
    private(set) var place: String
    private let index: PartialFileIndex?
    private var folder: Folder?
    private(set) var identity: FileStatus.Identity?
    private var target: Folder?
    /// The name of the destination, and whether a file of that name may be written in place.
    private var (newName, mayWriteInPlace) = ("", false)
    private var isMoved = false
    /// Whether a later request may resume from the file; not so if the index has no entry for it.
    private(set) var isResumable = true

    init(path: String, index: PartialFileIndex?) {
        self.path = path
        place = path
        self.index = index
    }

    /// The location of a file that was opened before.
    init(path: String, folder: Folder, identity: FileStatus.Identity, index: PartialFileIndex?) {
        self.path = path
        place = path
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
        (newName, mayWriteInPlace) = (
            PartialLocation.split(path).name, options.removesPreviousFile && options.keepsAttributes
        )
        let mode = options.createsIntermediateDirectories ? 0o777 & ~options.umask : nil
        do throws(SystemError) {
            target =
                isResolved
                ? try Folder(folder, missingMode: mode) : try Folder.resolving(folder, missingMode: mode)
            if mayWriteInPlace, let target { try FileReplacement.check(newName, in: target) }
            return nil
        } catch {
            return error
        }
    }

    /// Creates an empty file of mode 0600 in the directory of the destination, locked, so that no other request
    /// continues it meanwhile. If the directory takes no new file, but a file is there that can be written in place,
    /// the new one is elsewhere, and is not resumed.
    func create(for request: String) throws(SystemError) -> FileDescriptor {
        guard let target else { throw SystemError(code: ENOENT, operation: "open", subject: path) }
        let opened: FileDescriptor
        do throws(SystemError) {
            folder = target
            opened = try PartialLocation.create(name, in: target)
        } catch {
            guard FileReplacement.isRefused(error.code), isWritableInPlace, let spare = try? SpareFolder.open() else {
                throw error
            }
            folder = spare
            place = "\(spare.path)/\(name)"
            opened = try PartialLocation.create(name, in: spare)
        }
        flock(opened.raw, LOCK_EX | LOCK_NB)
        identity = try FileStatus(of: opened.raw).identity
        let isListed = index?.add(place, request: request) ?? true
        isResumable = isListed && place == path
        return opened
    }

    private static func create(_ name: String, in folder: Folder) throws(SystemError) -> FileDescriptor {
        try folder.open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    }

    /// Whether a file has the name of the destination, may be replaced, and can be opened for writing.
    private var isWritableInPlace: Bool {
        guard mayWriteInPlace, let target, (try? target.status(of: newName).kind) == .regular else { return false }
        return (try? target.open(newName, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)) != nil
    }

    // MARK: Ending

    /// Links the file to its final name, or, if attributes stay, puts its bytes into the file that is there. EEXIST if
    /// a file exists that may not be replaced, or anything but a regular file; ENOENT if the partial file is no longer
    /// at its path.
    func move(_ file: BackgroundFile, to destination: String, _ options: DownloadOptions) throws(SystemError) {
        if let error = file.failure { throw error }
        guard let folder, let target, let fd = file.descriptor?.raw else {
            throw SystemError(code: EBADF, operation: "rename", subject: path)
        }
        let newName = PartialLocation.split(destination).name
        let replacement = try FileReplacement(of: newName, in: target)
        guard try folder.status(of: name).identity == identity else {
            throw SystemError(code: ENOENT, operation: "rename", subject: path)
        }
        file.record?.erase(from: fd)
        let mode = 0o666 & ~options.umask
        if options.removesPreviousFile, options.keepsAttributes {
            identity = try replacement.put(fd, .named(name, folder), mode: mode)
        } else {
            guard fchmod(fd, mode) == 0 else { throw .last("fchmod", path) }
            try folder.rename(name, to: newName, in: target, replaces: options.removesPreviousFile)
        }
        isMoved = true
        index?.remove(place)
        file.close()
        self.folder = nil
        self.target = nil
    }

    /// Removes the file, unless it has its final name or another file is at its path.
    func remove() {
        guard !isMoved, let folder else { return }
        if let there = try? folder.status(of: name), there.identity == identity { try? folder.unlink(name) }
        index?.remove(place)
        close()
    }

    /// Closes the directories.
    func close() {
        folder = nil
        target = nil
    }
}
