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

    @Test func theyAreToldByName() throws {
        var writer = JSONWriter()
        Limits().write(to: &writer)
        let told = try JSON.parse(writer.bytes)
        #expect(told.count == Limits.fields.count)
        #expect(told["line_bytes"]?.int == 65_535)
        #expect(told["long_poll_ms"]?.int == 60_000)
    }
}
