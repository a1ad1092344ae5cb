import CarpoolJSON
@testable import CarpoolServer
import Testing

struct LimitsTests {
    @Test("Each default lies in its range", arguments: Limits.fields.indices) func defaults(_ index: Int) {
        let field = Limits.fields[index]
        #expect(field.range.contains(Limits()[keyPath: field.path]), "\(field.name)")
        #expect(!field.reason.isEmpty)
    }

    @Test("Each field has a name and a place of its own") func uniqueness() {
        #expect(Set(Limits.fields.map { "\($0.name)" }).count == Limits.fields.count)
        #expect(Set(Limits.fields.map { $0.path as AnyKeyPath }).count == Limits.fields.count)
        #expect(Mirror(reflecting: Limits()).children.count == Limits.fields.count, "a limit that cannot be set")
    }

    @Test(
        "What costs descriptors fits the number of files that may be open",
        arguments: [(64, 8), (256, 48), (1_024, 240), (4, 1), (1_048_576, 2_048)])
    func openFiles(openFiles: Int, connections: Int) {
        var limits = Limits()
        limits.fit(openFiles: openFiles)
        #expect(limits.connections == connections)
        #expect(limits.connectionsPerUser <= limits.connections)
        #expect(limits.connectionsPerClient <= limits.connectionsPerUser && limits.connectionsPerClient > 0)
        #expect(limits.totalConnections <= max(1, connections))
        let sum = limits.connections + limits.totalConnections + limits.pausedTransfers + limits.rawStreams
        #expect(sum <= max(4, openFiles))
        var unknown = Limits()
        unknown.fit(openFiles: nil)
        #expect(unknown == Limits())
    }

    @Test func theyAreToldByName() throws {
        var writer = JSONWriter()
        Limits().write(to: &writer)
        let told = try JSON.parse(writer.bytes)
        #expect(told.count == Limits.fields.count)
        #expect(told["line_bytes"]?.int == 65_535)
        #expect(told["long_poll_ms"]?.int == 60_000)
    }
}
