import CarpoolJSON
@testable import CarpoolSession
import Testing

struct StructuredValueTests {
    private static func read(_ text: String) throws -> StructuredValue {
        try StructuredValue(try JSON.parse(Array(text.utf8)), path: "p")
    }

    private static func written(_ value: StructuredValue) -> String {
        var writer = JSONWriter()
        writer.structured(value)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test(
        "What is read is written the same",
        arguments: [
            "null", "true", "[1,1.0,-0.0,1e+21,-0,1E2,12345678901234567.89,1e-999]", "18446744073709551615",
            "-9223372036854775809",
            "[123456789012345678901234567890,1e400]",
            #"{"z":1,"a":{"$data":"AP8="},"d":{"$date":978307323.456}}"#, #"{"$data":"","x":1}"#, #"{"$dat":1}"#,
            #""\u0000é😃""#,
            "[[],{}]", #"{"$date":0.0}"#,
        ])
    func roundTrips(text: String) throws { #expect(Self.written(try Self.read(text)) == text) }

    @Test func kinds() throws {
        #expect(try Self.read("[1,1.0]") == .array([.integer(1), .number("1.0")]))
        #expect(try Self.read("18446744073709551615") == .unsigned(.max))
        #expect(try Self.read("-9223372036854775809") == .number("-9223372036854775809"))
        #expect(try Self.read(#"{"$data":"AP8="}"#) == .data([0, 255]))
        #expect(try Self.read(#"{"$date":5}"#) == .date(5))
        #expect(
            try Self.read(#"{"$date":5,"a":1}"#) == .object([.init("$date", .integer(5)), .init("a", .integer(1))]))
    }

    @Test("Values that JSON cannot represent are written as others that it can")
    func unsayable() {
        #expect(
            Self.written(.array([.real(.nan), .date(.infinity), .decimal("],["), .number("1,2")]))
                == #"[null,{"$date":null},"],[","1,2"]"#)
    }

    @Test(arguments: [
        (#"{"a":[0,{"$data":"A"}]}"#, "p.a[1].$data"), (#"{"$data":"AA="}"#, "p.$data"),
        (#"{"$data":null}"#, "p.$data"),
        (#"[{"$date":"x"}]"#, "p[0].$date"),
    ]) func refuses(text: String, path: String) {
        let error = #expect(throws: JSONError.self) { try Self.read(text) }
        #expect(error?.path == path)
    }

    @Test func depthIsBounded() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try Self.read(nested(64))
        #expect(throws: JSONError.self) { try Self.read(nested(65)) }
        #expect(throws: JSONError.self) { try Self.read(nested(2_000)) }
    }
}
