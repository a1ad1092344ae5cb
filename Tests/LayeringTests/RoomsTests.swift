import Testing

/// What each room of a target may use. A new edge is a decision that is written into the table; an edge that no longer
/// exists is removed from it.
struct RoomsTests {
    @Test(
        "The rooms of a target use those that the table names with a reason, and no others",
        arguments: rooms.keys.sorted())
    func edges(_ target: String) throws {
        let graph = RoomGraph(target: target, files: try SourceTree.swiftSources())
        let allowed = try #require(rooms[target])
        for room in Set(graph.edges.keys).union(allowed.keys).sorted() {
            let (found, named) = (graph.edges[room] ?? [], allowed[room] ?? [:])
            for other in found.subtracting(named.keys).sorted() {
                Issue.record("\(target): \(room) uses \(other): \(graph.uses["\(room) -> \(other)"] ?? "")")
            }
            for other in Set(named.keys).subtracting(found).sorted() {
                Issue.record("\(target): \(room) does not use \(other) any more: take it out of the table")
            }
            for (other, reason) in named where reason.count(where: { $0 == " " }) < 2 {
                Issue.record("\(target): \(room) uses \(other) without a reason")
            }
        }
    }

    @Test("Rooms do not use each other in a circle, except those that the table names", arguments: rooms.keys.sorted())
    func circles(_ target: String) throws {
        let graph = RoomGraph(target: target, files: try SourceTree.swiftSources())
        #expect(graph.roomsInCircles == roomsInCircles[target, default: []])
    }

    @Test(
        "The largest group of files that need each other is as large as the table says", arguments: rooms.keys.sorted())
    func knots(_ target: String) throws {
        let knot = FileGraph(target: target, files: try SourceTree.swiftSources()).largestKnot
        #expect(knot.count == largestKnots[target], "\(knot.sorted())")
    }

    @Test("A use in a comment or a string is none, and a circle is found")
    func graph() {
        let files = [
            SourceFile(
                path: "Sources/T/A/One.swift",
                text: "struct One {\n    var two: Two // Three\n    let text = \"Four\"\n}\n"),
            SourceFile(path: "Sources/T/B/Two.swift", text: "public final class Two { var one: One? }\n"),
            SourceFile(path: "Sources/T/B/Three.swift", text: "enum Three {}\nextension One {}\n"),
            SourceFile(path: "Sources/T/C/Four.swift", text: "protocol Four {}\n"),
        ]
        let graph = RoomGraph(target: "T", files: files)
        #expect(graph.edges == ["A": ["B"], "B": ["A"], "C": []])
        #expect(graph.roomsInCircles == ["A", "B"])
    }
}
