internal import CarpoolSystem
internal import Glibc

/// A partial file of an earlier download, opened and locked, and not attached to a request yet.
struct OpenedPartial: ~Copyable {
    let path: String
    let count: Int64
    let folder: Folder
    let identity: FileStatus.Identity
    let descriptor: FileDescriptor

    /// Opens one. May block.
    /// - Throws: EPERM if it is not a partial file of this user, EWOULDBLOCK if another request uses it, or the reason
    ///   why it cannot be opened.
    init(at path: String) throws(SystemError) {
        guard path.hasPrefix("/"), PartialName.request(ofPath: path) != nil else {
            throw SystemError(code: EPERM, operation: "open", subject: path)
        }
        let (parent, name) = PartialLocation.split(path)
        let folder = try Folder.resolving(parent)
        let opened = try folder.open(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
        let status = try FileStatus(of: opened.raw)
        guard status.kind == .regular, status.owner == geteuid(), status.links == 1 else {
            throw SystemError(code: EPERM, operation: "open", subject: path)
        }
        guard flock(opened.raw, LOCK_EX | LOCK_NB) == 0 else { throw .last("flock", path) }
        self.path = path
        count = status.size
        self.folder = folder
        identity = status.identity
        descriptor = opened
    }

    /// Removes the partial file at a path, unless a request uses it. Returns whether it is gone. May block.
    @discardableResult static func removeUnused(_ path: String, index: PartialFileIndex?) -> Bool {
        do throws(SystemError) {
            try OpenedPartial(at: path).remove(index)
            return true
        } catch {
            return error.code == ENOENT
        }
    }

    consuming func remove(_ index: PartialFileIndex?) {
        try? folder.unlink(PartialLocation.split(path).name)
        index?.remove(path)
    }
}
