internal import CarpoolRPC
internal import CarpoolSystem
internal import Glibc

/// Resolves the paths of destinations.
enum DestinationPlace {
    /// The place of a file that need not be there, with all symbolic links resolved: its own too, so that what it leads
    /// to is replaced. May block.
    static func file(_ path: String, at place: String) throws(RPCError) -> String {
        try AbsolutePath.check(path, at: place)
        guard !path.hasSuffix("/") else {
            throw .invalidParams(path: place, message: "the path ends with a /", expected: "the path of a file")
        }
        // Of this process, not of the client: a link such as /dev/stdout would be replaced.
        guard !RegularFile.leadsToProcess(path) else { throw cannotOpen(path, EINVAL) }
        guard let real = try resolve(path) else {
            let slash = path.lastIndex(of: "/") ?? path.startIndex
            let directory = try missing(slash == path.startIndex ? "/" : String(path[..<slash]), of: path)
            return (directory == "/" ? "" : directory) + path[slash...]
        }
        var status = stat()
        guard SystemPath.withBytes(real, { stat($0, &status) }) == 0 else { throw cannotOpen(path, errno) }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG else { throw cannotOpen(path, kind == S_IFDIR ? EISDIR : EINVAL) }
        return real
    }

    /// The place of a directory that need not be there, with all symbolic links resolved. May block.
    static func directory(_ path: String, at place: String) throws(RPCError) -> String {
        try AbsolutePath.check(path, at: place)
        guard let real = try resolve(path) else { return try missing(path, of: path) }
        var status = stat()
        guard SystemPath.withBytes(real, { stat($0, &status) }) == 0 else { throw cannotOpen(path, errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw cannotOpen(path, ENOTDIR) }
        return real
    }

    /// The path without symbolic links; `nil` if there is nothing of that name.
    private static func resolve(_ path: String) throws(RPCError) -> String? {
        do throws(SystemError) { return try Folder.realPath(path) } catch {
            if error.code == ENOENT { return nil }
            throw cannotOpen(path, error.code)
        }
    }

    /// Resolves the directory of a path that does not exist completely, with the symbolic links of the part that
    /// exists.
    private static func missing(_ directory: String, of path: String) throws(RPCError) -> String {
        do throws(SystemError) { return try Folder.resolve(directory) } catch { throw cannotOpen(path, error.code) }
    }

    private static func cannotOpen(_ path: String, _ code: Int32) -> RPCError {
        .cannotOpen(path: path, code: code, reason: SystemError.reason(of: code))
    }
}
