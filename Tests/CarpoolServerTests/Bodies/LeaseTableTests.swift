@testable import CarpoolServer
import Testing

struct LeaseTableTests {
    @Test("A body is leased to the connection that requested it")
    func owners() {
        var table = LeaseTable()
        table.add("r1", connection: 1)
        table.add("r2", connection: 1)
        table.add("r3", connection: 2)
        #expect(table.requests(of: 1) == ["r1", "r2"])
        #expect(table.requests(of: 2) == ["r3"])
        #expect(table.requests(of: 9) == [])
    }

    @Test("A removed body is not in the table; removing one that is not there does nothing")
    func removal() {
        var table = LeaseTable()
        table.add("r1", connection: 1)
        table.remove("r2", connection: 1)
        table.remove("r1", connection: 1)
        table.remove("r1", connection: 1)
        #expect(table.requests(of: 1) == [])
    }
}
