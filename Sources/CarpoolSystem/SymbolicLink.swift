internal import Glibc

/// Symbolic links, which need not lead to anything.
enum SymbolicLink {
    /// The most links that are followed (path_resolution(7)).
    private static let maximumLinks = 40

    /// The path behind all symbolic links of the last component; the closure says at which path to stop.
    static func followed(_ path: String, until isEnd: (String) -> Bool) -> String {
        var path = path
        for _ in 0..<maximumLinks {
            guard !isEnd(path), let next = target(of: path) else { break }
            path = next.hasPrefix("/") ? next : parent(of: path) + next
        }
        return path
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
