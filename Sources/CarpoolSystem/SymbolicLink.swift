internal import Glibc

/// Symbolic links, which need not lead to anything.
enum SymbolicLink {
    /// The path behind all symbolic links of the last component; the closure says at which path to stop. EACCES for a
    /// link that another user has put into a folder that all may write.
    static func followed(_ path: String, until isEnd: (String) -> Bool) throws(SystemError) -> String {
        var place = path
        for _ in 0..<PathWalk.mostLinks {
            guard !isEnd(place), let next = target(of: place) else { break }
            guard !NamedPath.isPlanted(place) else { throw NamedPath.planted("open", path) }
            place = next.hasPrefix("/") ? next : parent(of: place) + next
        }
        return place
    }

    /// The absolute path of an existing file without symbolic links, as realpath(3) returns it. EACCES for a link that
    /// another user has put into a folder that all may write, whatever part of the path it is.
    static func realPath(_ path: String) throws(SystemError) -> String {
        var walk = PathWalk(path)
        func failure(_ code: Int32) -> SystemError {
            SystemError(code: code, operation: "realpath", subject: path)
        }
        while let next = walk.next() {
            var status = stat()
            guard SystemPath.withBytes(next, { lstat($0, &status) }) == 0 else { throw failure(errno) }
            guard status.st_mode & S_IFMT == S_IFLNK else {
                let isFolder = status.st_mode & S_IFMT == S_IFDIR
                guard isFolder || walk.isLast && path.utf8.last != UInt8(ascii: "/") else { throw failure(ENOTDIR) }
                walk.enter(next)
                continue
            }
            guard !NamedPath.isPlanted(next) else { throw NamedPath.planted("realpath", path) }
            if let code = walk.follow(next) { throw failure(code) }
        }
        return walk.place.isEmpty ? "/" : walk.place
    }

    /// What a link leads to, as it is written in the link; `nil` for everything else.
    static func target(of path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = bytes.withUnsafeMutableBytes { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { start in SystemPath.withBytes(path) { readlink($0, start, text.count) } } ?? -1
            }
        }
        return count > 0 ? SystemPath.text(bytes[..<count]) : nil
    }

    /// The directory of a path with its slash; empty if there is none.
    static func parent(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
    }
}
