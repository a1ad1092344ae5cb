import CarpoolHTTP
import CarpoolJSON
@testable import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import Testing

struct SerializerReaderTests {
    private static func read(
        _ text: String, _ parts: RecordingFactory = RecordingFactory()
    ) throws -> (serializers: [any ResponseSerializer], isList: Bool) {
        let json = try JSON.parse(Array(text.utf8))
        do throws(JSONError) {
            try JSONSchema.serialization.validate(json, path: "params.serialize")
        } catch {
            throw RPCError.invalidParams(error)
        }
        return try SerializerReader(callbacks: parts).serializers(json, path: "params.serialize")
    }

    /// What the first serializer makes of a response with that body.
    private static func value(
        _ text: String, of body: String, _ type: String = "text/plain", status: Int = 200, _ more: String = ""
    ) throws -> SerializedValue {
        let stage = try Stage()
        let entry = try stage.submit(FakeClient(), more)
        try entry.request.receive(Array(body.utf8))
        entry.request.response = .make(status, [("Content-Type", type)])
        var answers: [Result<SerializedValue, SessionError>] = []
        try #require(try read(text).serializers.first).serialize(entry.request) { answers.append($0) }
        return try #require(answers.first).get()
    }

    @Test("Each kind by its name alone, and as an object", arguments: ["data", "string", "json", "plist", "none"])
    func kinds(_ kind: String) throws {
        for text in [#""\#(kind)""#, #"{"as":"\#(kind)"}"#] {
            let (serializers, isList) = try Self.read(text)
            #expect(serializers.map(\.name) == [kind])
            #expect(!isList)
        }
    }

    @Test("A list makes several values, in order, and a list of one makes a list too")
    func list() throws {
        let parts = RecordingFactory()
        let text = #"["json",{"as":"string","encoding":"auto"},{"callback":{"name":"mine"}},"json"]"#
        let (serializers, isList) = try Self.read(text, parts)
        #expect(serializers.map(\.name) == ["json", "string", "callback", "json"])
        #expect(isList)
        #expect(parts.asked == ["serialize mine params.serialize[2].callback"])
        #expect(try Self.read(#"["none"]"#).isList)
    }

    @Test("RS-04: without an encoding the model's rule applies; auto and names of encodings set it")
    func encodings() throws {
        func text(_ serialize: String) throws -> String? {
            if case .string(let text) = try Self.value(serialize, of: "hé") { text } else { nil }
        }
        #expect(try text(#""string""#) == "hÃ©")
        #expect(try text(#"{"as":"string","encoding":"auto"}"#) == "hé")
        #expect(try text(#"{"as":"string","encoding":"utf-8"}"#) == "hé")
        for encoding in TextEncoding.allCases {
            let read = try Self.read(#"{"as":"string","encoding":"\#(encoding.rawValue)"}"#)
            #expect(read.serializers.count == 1, "the schema has every encoding")
        }
    }

    @Test("RS-02: what may be empty")
    func empty() throws {
        func isEmpty(_ serialize: String, _ status: Int, _ more: String = "") -> Bool {
            if case .data = try? Self.value(serialize, of: "", status: status, more) { true } else { false }
        }
        #expect(!isEmpty(#""data""#, 200))
        #expect(isEmpty(#""data""#, 204))
        #expect(isEmpty(#""data""#, 200, #","method":"HEAD""#))
        #expect(isEmpty(#"{"as":"data","empty_statuses":[200]}"#, 200))
        #expect(!isEmpty(#"{"as":"data","empty_statuses":[]}"#, 204))
        #expect(isEmpty(#"{"as":"data","empty_methods":["GET"]}"#, 200))
        #expect(!isEmpty(#"{"as":"data","empty_methods":[]}"#, 200, #","method":"HEAD""#))
    }

    @Test("RS-09: what is done to the bytes first")
    func preprocessors() throws {
        let value = try Self.value(#"{"as":"json","preprocess":"google_xssi"}"#, of: ")]}',\n{\"a\":1}")
        if case .jsonText(let text) = value {
            #expect(text.bytes == Array(#"{"a":1}"#.utf8))
        } else {
            Issue.record("no JSON")
        }
        let parts = RecordingFactory()
        _ = try Self.read(#"[{"as":"data","preprocess":{"callback":{"name":"clean"}}}]"#, parts)
        #expect(parts.asked == ["preprocess clean params.serialize[0].preprocess.callback"])
    }

    @Test(
        "Every refusal names its place",
        arguments: [
            (#""jsn""#, "params.serialize"), ("[]", "params.serialize"), ("null", "params.serialize"),
            (#"{"as":"text"}"#, "params.serialize.as"), (#"["json",{"as":"text"}]"#, "params.serialize[1].as"),
            (#"{"as":"json","encoding":"utf-8"}"#, "params.serialize.encoding"),
            (#"[{"as":"none","encoding":"auto"}]"#, "params.serialize[0].encoding"),
            (#"{"as":"none","empty_methods":["GET"]}"#, "params.serialize"),
            (#"{"as":"string","encoding":"koi8-r"}"#, "params.serialize.encoding"),
            (#"{"as":"data","empty_methods":["GET","A B"]}"#, "params.serialize.empty_methods[1]"),
            (#"{"as":"data","empty_methods":["CONNECT"]}"#, "params.serialize.empty_methods[0]"),
            (#"{"as":"data","empty_statuses":[99]}"#, "params.serialize.empty_statuses[0]"),
            (#"{"as":"data","preprocess":"xssi"}"#, "params.serialize.preprocess"),
            (#"{"as":"data","preproces":"google_xssi"}"#, "params.serialize.preproces"),
            (#"{"callback":{"name":"x","on_failure":"pass"}}"#, "params.serialize.callback.on_failure"),
            (#"{"encoding":"auto"}"#, "params.serialize"),
        ])
    func refusals(_ text: String, _ path: String) throws {
        let error = try #require(throws: RPCError.self) { try Self.read(text) }
        #expect(error["path"] == path)
        #expect(error["expected"]?.isEmpty == false)
    }

    @Test("At most eight")
    func bounds() throws {
        func list(_ count: Int) -> String { "[\(Array(repeating: #""data""#, count: count).joined(separator: ","))]" }
        #expect(try Self.read(list(8)).serializers.count == 8)
        #expect(throws: RPCError.self) { try Self.read(list(9)) }
    }
}
