internal import Glibc

/// A walk along an absolute path, part by part, as the kernel does it (path_resolution(7)). The caller looks at each
/// part, and then enters it, or follows it if it is a symbolic link.
struct PathWalk {
    /// What was walked, without links; empty for the root.
    private(set) var place = ""
    private var rest: ArraySlice<String>
    private var links = 0

    /// The most links that are followed.
    static let mostLinks = 40

    init(_ path: String) { rest = PathWalk.parts(of: path) }

    private static func parts(of path: String) -> ArraySlice<String> {
        ArraySlice(path.split(separator: "/").map(String.init))
    }

    /// Whether the part that was returned last is the last one.
    var isLast: Bool { rest.isEmpty }

    /// The path of the next part, which need not exist; `nil` at the end.
    mutating func next() -> String? {
        while let part = rest.popFirst() {
            switch part {
            case ".": continue
            case "..": place = String(place[..<(place.lastIndex(of: "/") ?? place.startIndex)])
            default: return "\(place)/\(part)"
            }
        }
        return nil
    }

    /// Goes on in a part.
    mutating func enter(_ part: String) { place = part }

    /// Goes on at what a link leads to. Returns ELOOP after too many links, and EINVAL for what is no link any more.
    mutating func follow(_ link: String) -> Int32? {
        links += 1
        guard links <= PathWalk.mostLinks else { return ELOOP }
        guard let target = SymbolicLink.target(of: link) else { return EINVAL }
        if target.hasPrefix("/") { place = "" }
        rest = PathWalk.parts(of: target) + rest
        return nil
    }
}
