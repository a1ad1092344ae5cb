internal import CarpoolSystem
internal import Glibc
internal import Synchronization

/// The folder of the spool, held open: its files are made, named and removed relative to its descriptor. It is made
/// again if it was removed, because users clear ~/.cache. May block: for threads of a worker.
final class SpoolFolder: Sendable {
    let path: String
    private let opened = Mutex<Folder?>(nil)

    /// Makes the folder if it is missing, and opens it.
    init(_ path: String) throws(SystemError) {
        self.path = path
        _ = try current()
    }

    /// The folder that its path leads to now.
    func current() throws(SystemError) -> Folder {
        let known = opened.withLock { $0 }
        if let known, known.isAt(path) { return known }
        let shortages = Shortage.count
        if let part = PathOwnership.foreignPart(of: path) {
            guard Shortage.count == shortages else {
                throw SystemError(code: Shortage.lastCode, operation: "lstat", subject: path)
            }
            throw SystemError(
                code: EPERM, operation: "open", subject: path, advice: "another user can replace \(part)")
        }
        do throws(SystemError) { try PrivateDirectory.create(path) } catch {
            throw SystemError(code: error.code, operation: error.operation, subject: path)
        }
        let folder = try Folder.resolving(path)
        opened.withLock { $0 = folder }
        return folder
    }

    /// A new file without a name.
    func unnamedFile() throws(SystemError) -> FileDescriptor { try current().unnamed() }

    /// Removes a file; nothing happens if it is not there.
    func unlink(_ name: String) { try? opened.withLock { $0 }?.unlink(name) }

    /// Removes the bodies that an earlier daemon has left.
    func removeOrphans() {
        for name in FolderListing.names(in: path) where name.hasPrefix("r_") { unlink(name) }
    }
}
