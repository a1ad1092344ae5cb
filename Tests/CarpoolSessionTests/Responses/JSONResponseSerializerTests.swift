import CarpoolJSON
@testable import CarpoolSession
import Testing

struct JSONResponseSerializerTests {
    private static func json(_ body: [UInt8], type: String = "application/json") throws -> JSON? {
        try Answered(200, [("Content-Type", type)], body: body).value(JSONResponseSerializer()).json
    }

    @Test(
        "RS-05: any value may be at the top", arguments: ["{}", "[1]", "\"x\"", "1", "-0.5", "true", "null", " 1\n"])
    func fragments(_ text: String) throws {
        #expect(try Self.json(Array(text.utf8)) == JSON.parse(Array(text.utf8)))
    }

    @Test("A byte order mark is no error")
    func mark() throws {
        #expect(try Self.json([0xEF, 0xBB, 0xBF] + Array("[1]".utf8))?[index: 0]?.int == 1)
    }

    @Test(
        "UTF-16 and UTF-32, with and without a byte order mark, with any charset",
        arguments: ["[\"é\"]", "{\"é\":1}", "1", "\"é\""])
    func unicodeForms(_ text: String) throws {
        let expected = try JSON.parse(Array(text.utf8))
        for withMark in [false, true] {
            let scalars = (withMark ? "\u{FEFF}" : "") + text
            let low16 = scalars.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
            let high16 = scalars.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            let high32 = scalars.unicodeScalars.flatMap { scalar in
                [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: scalar.value >> $0) }
            }
            let low32 = scalars.unicodeScalars.flatMap { scalar in
                [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: scalar.value >> $0) }
            }
            for body in [low16, high16, low32, high32] {
                #expect(try Self.json(body, type: "application/json; charset=utf-8") == expected, "\(body)")
            }
        }
    }

    @Test("JSON is UTF-8 with any charset (RFC 8259, section 11)")
    func charset() throws {
        #expect(try Self.json(Array("\"é\"".utf8), type: "application/json; charset=iso-8859-1")?.string == "é")
    }

    @Test(
        "RS-05: invalid JSON fails with its position",
        arguments: [
            ("{", 1, 1, "incomplete"), ("{\"a\":1,\n \"b\":x}", 2, 6, "syntax"),
            ("[1,]", 1, 4, "syntax"), ("<html>", 1, 1, "syntax"), ("1 2", 1, 3, "syntax"),
        ])
    func failures(_ text: String, _ line: Int, _ column: Int, _ code: String) throws {
        let error = try Answered(text: text).failure(JSONResponseSerializer())
        #expect(error.name == "response_serialization_failed.json_serialization_failed")
        let cause = try #require(error.cause("underlying"))
        #expect(cause.name == "invalid_json")
        #expect(cause.number("line") == line)
        #expect(abs((cause.number("column") ?? 0) - column) <= 1, "\(cause.number("column") ?? 0)")
        #expect(cause.text("code") == code)
    }

    @Test("Bytes that are not text fail too")
    func notEvenText() throws {
        let latin = try Answered(200, body: [0x22, 0xE9, 0x22]).failure(JSONResponseSerializer())
        #expect(latin.cause("underlying")?.text("code") == "invalid_utf8")
        let surrogate = try Answered(200, body: [0x22, 0, 0, 0xD8]).failure(JSONResponseSerializer())
        #expect(surrogate.cause("underlying")?.text("encoding") == "utf-16le")
        let deep = try Answered(text: String(repeating: "[", count: 100_000)).failure(JSONResponseSerializer())
        #expect(deep.cause("underlying")?.text("code") == "too_deep")
    }
}
