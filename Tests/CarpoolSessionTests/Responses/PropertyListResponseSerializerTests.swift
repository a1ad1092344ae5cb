@testable import CarpoolSession
import Testing

struct PropertyListResponseSerializerTests {
    @Test("RS-06: an XML property list")
    func xml() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>a</key><integer>1</integer><key>b</key><string>é</string></dict></plist>
            """
        let value = try Answered(text: text).value(PropertyListResponseSerializer()).structured
        #expect(value == .object([.init("a", .integer(1)), .init("b", .string("é"))]))
    }

    @Test("RS-06: a binary one, as this library writes it")
    func binary() throws {
        let list = StructuredValue.object([.init("a", .array([.integer(-1), .data([0, 1]), .bool(true)]))])
        let bytes = try PropertyList.encode(list, as: .binary)
        #expect(try Answered(200, body: bytes).value(PropertyListResponseSerializer()).structured == list)
    }

    @Test("RS-06: anything else fails", arguments: ["", "{}", "<plist>", "bplist00", "<html></html>"])
    func failures(_ text: String) throws {
        let error = try Answered(text: text.isEmpty ? " " : text).failure(PropertyListResponseSerializer())
        #expect(error.name == "response_serialization_failed.decoding_failed")
        #expect(error.cause("underlying") != nil)
    }
}
