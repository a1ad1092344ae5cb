/// The uses between the rooms of a target: a room is a folder, and it uses another one when a file of it names a type
/// that a file of the other one declares at its top level. Read from the sources, without their comments and strings.
struct RoomGraph {
    /// The rooms that each room uses.
    private(set) var edges: [String: Set<String>] = [:]
    /// For each edge, a file and the type that it names.
    private(set) var uses: [String: String] = [:]

    init(target: String, files: [SourceFile]) {
        let prefix = "Sources/\(target)/"
        let own = files.filter { $0.path.hasPrefix(prefix) }
        var owners: [String: String] = [:]
        for file in own {
            for type in Self.declaredTypes(in: file) where owners[type] == nil { owners[type] = file.path }
        }
        for file in own {
            let room = Self.room(of: file.path, prefix)
            edges[room, default: []].formUnion([])
            let declared = Set(Self.declaredTypes(in: file))
            for word in Self.capitalizedWords(in: file) where !declared.contains(word) {
                guard let owner = owners[word] else { continue }
                let other = Self.room(of: owner, prefix)
                guard other != room else { continue }
                edges[room, default: []].insert(other)
                uses["\(room) -> \(other)"] = "\(file.stem) names \(word)"
            }
        }
    }

    /// The rooms that use each other in a circle.
    var roomsInCircles: Set<String> {
        Set(edges.keys.filter { room in reachable(from: room).contains(room) })
    }

    private func reachable(from start: String) -> Set<String> {
        var found: Set<String> = []
        var open = [start]
        while let room = open.popLast() {
            for next in edges[room] ?? [] where found.insert(next).inserted { open.append(next) }
        }
        return found
    }

    private static func room(of path: String, _ prefix: String) -> String {
        let folders = path.dropFirst(prefix.count).split(separator: "/").dropLast()
        return folders.isEmpty ? "." : folders.joined(separator: "/")
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
