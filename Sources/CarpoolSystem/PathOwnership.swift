internal import Glibc

/// Whether other users can change what a path leads to: then it is used for nothing of this process.
public enum PathOwnership {
    /// The first part of a path that belongs to another user than this process's and root, or that all
    /// users may change; `nil` if there is none. A part that does not exist is ignored. May block.
    ///
    /// Symbolic links are followed part by part: both the link and what it leads to are checked.
    public static func foreignPart(of path: String) -> String? {
        guard !path.hasPrefix("/") else { return foreignPart(of: path, uid: geteuid()) }
        guard let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return foreignPart(of: "\(SystemPath.text(folder))/\(path)", uid: geteuid())
    }

    static func foreignPart(of path: String, uid: UInt32) -> String? {
        var root = stat()
        guard path.hasPrefix("/") else { return path }
        guard stat("/", &root) == 0 else {
            Shortage.noteIfShort(errno)
            return path
        }
        // In a user namespace the owner of "/" is root too, under another number.
        let owners: Set<UInt32> = [uid, 0, root.st_uid]
        var walk = PathWalk(path)
        while let next = walk.next() {
            var status = stat()
            guard SystemPath.withBytes(next, { lstat($0, &status) }) == 0 else {
                Shortage.noteIfShort(errno)
                return errno == ENOENT ? nil : next
            }
            guard owners.contains(status.st_uid) else { return next }
            guard status.st_mode & S_IFMT == S_IFLNK else {
                let kind = status.st_mode & S_IFMT
                let isShared = status.st_mode & (S_IWOTH | S_ISVTX) == S_IWOTH
                if isShared, kind == S_IFDIR || kind == S_IFREG { return next }
                walk.enter(next)
                continue
            }
            guard walk.follow(next) == nil else { return next }
        }
        return nil
    }
}
