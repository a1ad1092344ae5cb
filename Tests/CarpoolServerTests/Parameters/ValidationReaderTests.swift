import CarpoolJSON
@testable import CarpoolRPC
@testable import CarpoolServer
import CarpoolSession
import Testing

struct ValidationReaderTests {
    private static func read(
        _ text: String, _ parts: RecordingFactory = RecordingFactory()
    ) throws -> [any ResponseValidator] {
        let json = try JSON.parse(Array(text.utf8))
        do throws(JSONError) {
            try JSONSchema.validation.validate(json, path: "params.validate")
        } catch {
            throw RPCError.invalidParams(error)
        }
        return try ValidationReader(callbacks: parts).validators(json, path: "params.validate")
    }

    @Test("VA-01, VA-02: true is the status, then the type; false and an empty list are nothing")
    func automatic() throws {
        let both = try Self.read("true")
        #expect(both.map(\.name) == ["status", "content_type"])
        #expect((both.first as? StatusValidator)?.acceptable == [200...299])
        #expect(both.last is AcceptHeaderValidator)
        #expect(try Self.read("false").isEmpty)
        #expect(try Self.read("[]").isEmpty)
    }

    @Test(
        "VA-03: codes and ranges",
        arguments: [
            (#"["200-299",304]"#, [200...299, 304...304]), ("[]", []), (#"["100-999"]"#, [100...999]),
            (#"["404-404"]"#, [404...404]), ("[999,100]", [999...999, 100...100]),
        ])
    func statuses(_ list: String, _ expected: [ClosedRange<Int>]) throws {
        let validators = try Self.read(#"[{"status":\#(list)}]"#)
        #expect(validators.count == 1)
        #expect((validators.first as? StatusValidator)?.acceptable == expected)
    }

    @Test("A list keeps its order; types are taken as they are (VA-04)")
    func list() throws {
        let parts = RecordingFactory()
        let validators = try Self.read(
            """
            [{"content_type":["text/*","json"]},{"status":[200]},{"callback":{"name":"judge","on_failure":"pass"}},\
            {"content_type":[]}]
            """, parts)
        #expect(validators.map(\.name) == ["content_type", "status", "callback", "content_type"])
        #expect((validators.first as? ContentTypeValidator)?.acceptable == ["text/*", "json"])
        #expect((validators.last as? ContentTypeValidator)?.acceptable == [])
        #expect(parts.asked == ["validate judge params.validate[2].callback"])
    }

    @Test(
        "Every refusal names its place",
        arguments: [
            ("1", "params.validate"), (#""true""#, "params.validate"),
            (#"[{"status":[200,99]}]"#, "params.validate[0].status[1]"),
            (#"[{"status":[1000]}]"#, "params.validate[0].status[0]"),
            (#"[{"status":["299-200"]}]"#, "params.validate[0].status[0]"),
            (#"[{"status":[200]},{"status":["200"]}]"#, "params.validate[1].status[0]"),
            (#"[{"status":["99-200"]}]"#, "params.validate[0].status[0]"),
            (#"[{"status":["2xx"]}]"#, "params.validate[0].status[0]"),
            (#"[{"status":["-"]}]"#, "params.validate[0].status[0]"),
            (#"[{"status":["+20-299"]}]"#, "params.validate[0].status[0]"),
            (#"[{"status":[""]}]"#, "params.validate[0].status[0]"),
            (#"[{"status":["200-29 "]}]"#, "params.validate[0].status[0]"),
            (#"[{"status":["099-200"]}]"#, "params.validate[0].status[0]"),
            (#"[{"status":["200-1000"]}]"#, "params.validate[0].status[0]"),
            (#"[{"status":[200.5]}]"#, "params.validate[0].status[0]"),
            (#"[{"status":200}]"#, "params.validate[0].status"),
            (#"[{"content_type":[1]}]"#, "params.validate[0].content_type[0]"),
            (#"[{"callback":{"deadline_ms":1}}]"#, "params.validate[0].callback.name"),
            (#"[{"callback":{"name":"x","on_failure":"none"}}]"#, "params.validate[0].callback.on_failure"),
            (#"[{"status":[200],"content_type":[]}]"#, "params.validate[0]"),
        ])
    func refusals(_ text: String, _ path: String) throws {
        let error = try #require(throws: RPCError.self) { try Self.read(text) }
        #expect(error["path"] == path)
        #expect(error["expected"]?.isEmpty == false)
    }

    @Test("At most 16, and the nearest name of one that is unknown")
    func bounds() throws {
        let one = #"{"status":[200]}"#
        #expect(try Self.read("[\(Array(repeating: one, count: 16).joined(separator: ","))]").count == 16)
        #expect(throws: RPCError.self) { try Self.read("[\(Array(repeating: one, count: 17).joined(separator: ","))]") }
        let error = try #require(throws: RPCError.self) { try Self.read(#"[{"statuss":[200]}]"#) }
        #expect(error["did_you_mean"] == "status")
    }
}
