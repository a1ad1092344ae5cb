@testable import CarpoolServer
import Testing

struct LeaseTableTests {
    private let a = ClientIdentity(uid: 1, name: "a")
    private let b = ClientIdentity(uid: 1, name: "b")

    @Test("A body is leased to its client, or to the connection that requested it under another name")
    func owners() {
        var table = LeaseTable()
        table.add("r1", of: a, connection: 1)
        table.add("r2", of: b, connection: 1)
        table.add("r3", of: b, connection: 2)
        table.add("r4", of: nil, connection: 3)
        #expect(table.requests(of: a, connection: 9) == ["r1"])
        #expect(table.requests(of: a, connection: 1) == ["r1", "r2"])
        #expect(table.requests(of: b, connection: 2) == ["r2", "r3"])
        #expect(table.requests(of: a, connection: 3) == ["r1", "r4"])
    }

    @Test("A removed body is in neither list; removing one that is not in the table does nothing")
    func removal() {
        var table = LeaseTable()
        table.add("r1", of: a, connection: 1)
        table.remove("r2", of: a, connection: 1)
        table.remove("r1", of: a, connection: 1)
        table.remove("r1", of: a, connection: 1)
        #expect(table.requests(of: a, connection: 1) == [])
    }
}
