import CarpoolJSON
@testable import CarpoolServer
import CarpoolSession
import Testing

struct SessionTableTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    private func entry(_ name: String, of uid: UInt32) -> SessionTable.Entry {
        let session = stage.server.sessions.make(name: name, of: uid, SessionConfiguration())
        return SessionTable.Entry(session: session, configuration: nil, tickets: [])
    }

    @Test("A2: each user has names of its own")
    func names() {
        var table = SessionTable()
        table.insert(entry("api", of: 1), of: 1)
        #expect(table.entry("api", of: 2) == nil)
        table.insert(entry("api", of: 1), of: 1)
        #expect(table.created == 0, "a user without a default session has not been seen")
        for uid: UInt32 in [1, 2] {
            _ = table.standard(of: uid) { entry("default", of: uid).session }
            table.insert(entry("api", of: uid), of: uid)
        }
        #expect((table.created, table.count) == (2, 4))
        table.remove("api", of: 2)
        table.remove("api", of: 2)
        #expect(table.created(by: 1) == 1)
        #expect(table.created == 1)
        #expect(table.entry("api", of: 1) != nil)
        #expect(table.sessions(of: 1).map(\.name) == ["api", "default"])
        #expect(table.sessions(of: 3).isEmpty)
    }

    @Test("A2: each user has one default session, made once")
    func standard() {
        var table = SessionTable()
        let first = table.standard(of: 1) { entry("default", of: 1).session }
        let other = table.standard(of: 2) { entry("default", of: 2).session }
        #expect(first !== other)
        #expect(table.standard(of: 1) { entry("default", of: 1).session } === first)
        #expect(table.all.map(\.uid) == [1, 2])
    }

    @Test("A declared session takes a name; when it is removed, default is there without it")
    func declared() throws {
        var table = SessionTable()
        let declaration = SessionTable.Declaration(shown: try JSON.parse(Array("{}".utf8)), resolved: [])
        func declared(_ name: String) -> SessionTable.Entry {
            var declared = entry(name, of: 1)
            declared.declaration = declaration
            return declared
        }
        let standard = table.standard(of: 1) { entry("default", of: 1).session }
        let created = entry("api", of: 1)
        table.insert(created, of: 1)
        #expect(table.replace(with: declared("api"), of: 1) === created.session)
        #expect(table.replace(with: declared("default"), of: 1) === standard)
        #expect(table.replace(with: declared("more"), of: 1) == nil)
        #expect(table.declaredNames(of: 1) == ["api", "default", "more"])
        #expect((table.count, table.sessions(of: 1).map(\.name)) == (3, ["api", "default", "more"]))
        let kept = try #require(table.entry("default", of: 1)).session
        #expect(table.standard(of: 1) { standard } === kept)
        #expect(table.removeDeclared("default", of: 1) { standard } === kept)
        #expect(table.standard(of: 1) { kept } === standard)
        #expect(table.entry("default", of: 1) == nil)
        _ = table.removeDeclared("api", of: 1) { standard }
        #expect((table.declaredNames(of: 1), table.count) == (["more"], 2))
        #expect(table.declaredNames(of: 2).isEmpty)
    }

    @Test("A2: the connections of another user than the daemon's are in a partition of their own")
    func partition() {
        let owner = stage.server.configuration.access.owner
        #expect(stage.server.sessions.standard(of: owner).user == nil)
        #expect(stage.server.sessions.standard(of: owner &+ 1).user == owner &+ 1)
    }
}
