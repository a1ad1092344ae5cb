internal import CarpoolSystem
internal import Glibc

/// The list of name servers (resolv.conf(5)).
enum ResolverFile {
    /// Maximum size of the file.
    private static let maximumBytes = 65_536
    /// Maximum number of name servers, as in the C library (`MAXNS`).
    private static let maximumServers = 3

    /// The name servers of a file; none if it cannot be read.
    static func nameServers(at path: String) -> [IPAddress] {
        guard let file = try? FileDescriptor.open(path, O_RDONLY),
            let bytes = try? Bytes.readAll(file.raw, atMost: maximumBytes, path: path)
        else { return [] }
        return nameServers(in: String(decoding: bytes, as: UTF8.self))
    }

    /// The name servers of a file's text.
    static func nameServers(in text: String) -> [IPAddress] {
        let servers = text.split(whereSeparator: \.isNewline).compactMap { line -> IPAddress? in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count >= 2, words[0] == "nameserver" else { return nil }
            // The zone of a link-local server is not needed for looking up its route.
            return IPAddress(String(words[1].prefix { $0 != "%" }))
        }
        return Array(servers.prefix(maximumServers))
    }

    /// The folders whose changes may change the target of a path: that of each symbolic link in it, and that of the
    /// file.
    static func folders(of path: String) -> [(folder: String, name: String)] {
        var folders: [(folder: String, name: String)] = []
        var path = path
        for _ in 0..<maximumLinks {
            let slash = path.lastIndex(of: "/") ?? path.startIndex
            let folder = slash == path.startIndex ? "/" : String(path[..<slash])
            folders.append((folder, String(path[slash...].drop { $0 == "/" })))
            guard let target = target(of: path) else { break }
            path = target.hasPrefix("/") ? target : "\(folder)/\(target)"
        }
        return folders
    }

    /// Maximum number of links in a row; the kernel stops at 40.
    private static let maximumLinks = 8

    private static func target(of path: String) -> String? {
        var room = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &room, room.count)
        guard count > 0, count < room.count else { return nil }
        return String(decoding: room[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
