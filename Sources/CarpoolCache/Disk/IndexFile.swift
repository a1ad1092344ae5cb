internal import CarpoolSystem
internal import Glibc

/// The file of the index in the folder of a store.
enum IndexFile {
    private static let name = "index.db"

    /// Opens the index; makes an empty one if there is none. A log that an earlier run has left behind means that it
    /// did not end by itself: then the index is checked.
    static func open(in folder: String) throws(DiskError) -> DiskIndex {
        let path = "\(folder)/\(name)"
        var status = stat()
        if lstat(path, &status) != 0 {
            guard errno == ENOENT else { throw DiskError(.last("lstat", path)) }
            // A log without its index would be taken for that of the new one.
            for suffix in ["-wal", "-journal", "-shm"] { unlink(path + suffix) }
            do throws(SystemError) {
                _ = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            } catch {
                throw DiskError(error)
            }
            return try DiskIndex(path: path, isChecked: false)
        }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
            throw DiskError(.corrupt, "\(path) is not a file of uid \(geteuid())")
        }
        var log = stat()
        let isUnclean = lstat("\(path)-wal", &log) == 0 && log.st_size > 0
        return try DiskIndex(path: path, isChecked: isUnclean)
    }

    /// The identity of the index file; `nil` if there is none.
    static func identity(in folder: String) -> FileStatus.Identity? {
        guard let folder = try? Folder(folder), let status = try? folder.status(of: name) else { return nil }
        return status.identity
    }

    /// Renames an index that cannot be used to `index.db.bad`, in place of an earlier one.
    static func setAside(in folder: String) {
        let (path, bad) = ("\(folder)/\(name)", "\(folder)/\(name).bad")
        for suffix in ["-wal", "-journal", "-shm"] { unlink(path + suffix) }
        if rename(path, bad) == 0 { return }
        if unlink(bad) != 0 { rmdir(bad) }
        if rename(path, bad) == 0 { return }
        // What is in the way has content: a name that is free.
        if rename(path, "\(bad)-\(CacheEntry.makeID())") != 0 { unlink(path) }
    }

    /// Removes indexes that were set aside.
    static func removeSetAside(in folder: String) {
        for file in FolderListing.names(in: folder) where file.hasPrefix("\(name).bad") { unlink("\(folder)/\(file)") }
    }

    /// Removes the index, so that the next run begins without entries.
    static func remove(in folder: String) {
        for suffix in ["-wal", "-journal", "-shm", ""] { unlink("\(folder)/\(name)\(suffix)") }
    }
}
