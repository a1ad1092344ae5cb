/// The uses between the files of a target: a file uses another one when it names a type that the other one declares at
/// its top level. Read from the sources, without their comments and strings.
struct FileGraph {
    /// The files that each file uses, with a type that it names.
    private(set) var edges: [String: [String: String]] = [:]

    init(target: String, files: [SourceFile]) {
        let own = files.filter { $0.path.hasPrefix("Sources/\(target)/") }
        var owners: [String: String] = [:]
        for file in own {
            for type in Self.declaredTypes(in: file) where owners[type] == nil { owners[type] = file.path }
        }
        for file in own {
            var used: [String: String] = [:]
            let declared = Set(Self.declaredTypes(in: file))
            for word in Self.capitalizedWords(in: file) where !declared.contains(word) {
                if let owner = owners[word], owner != file.path { used[owner] = word }
            }
            edges[file.path] = used
        }
    }

    /// The largest group of files each of which uses, directly or not, all others.
    var largestKnot: Set<String> {
        let reachable = edges.keys.reduce(into: [String: Set<String>]()) { $0[$1] = files(usedBy: $1) }
        let knots = edges.keys.map { file in
            reachable[file, default: []].filter { reachable[$0, default: []].contains(file) }
        }
        return knots.max { $0.count < $1.count } ?? []
    }

    private func files(usedBy start: String) -> Set<String> {
        var found: Set<String> = []
        var open = [start]
        while let file = open.popLast() {
            for next in edges[file, default: [:]].keys where found.insert(next).inserted { open.append(next) }
        }
        return found
    }

    /// The types that a file declares at its top level, not those that it extends.
    private static func declaredTypes(in file: SourceFile) -> [String] {
        let kinds: Set<Substring> = ["class", "struct", "enum", "actor", "protocol", "typealias"]
        return file.code.compactMap { line in
            guard let first = line.first, !first.isWhitespace else { return nil }
            let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            guard let kind = words.firstIndex(where: kinds.contains), kind + 1 < words.count else { return nil }
            return words[..<kind].contains("extension") ? nil : String(words[kind + 1])
        }
    }

    private static func capitalizedWords(in file: SourceFile) -> Set<String> {
        var found: Set<String> = []
        for line in file.code {
            for word in line.utf8.split(whereSeparator: { !isWordByte($0) }) {
                guard let first = word.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else { continue }
                found.insert(String(Substring(word)))
            }
        }
        return found
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
        default: byte >= 0x80
        }
    }
}
