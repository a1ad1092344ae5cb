/// The uses between the rooms of a target: a room is a folder, and it uses another one when a file of it uses a file of
/// the other one.
struct RoomGraph {
    /// The rooms that each room uses.
    private(set) var edges: [String: Set<String>] = [:]
    /// For each edge, a file and the type that it names.
    private(set) var uses: [String: String] = [:]

    init(target: String, files: [SourceFile]) {
        let prefix = "Sources/\(target)/"
        for (file, used) in FileGraph(target: target, files: files).edges {
            let room = Self.room(of: file, prefix)
            edges[room, default: []].formUnion([])
            for (other, type) in used {
                let otherRoom = Self.room(of: other, prefix)
                guard otherRoom != room else { continue }
                edges[room, default: []].insert(otherRoom)
                uses["\(room) -> \(otherRoom)"] = "\(file) names \(type)"
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
}
