import CarpoolHTTP
import CarpoolJSON
@testable import CarpoolRPC
@testable import CarpoolServer
import CarpoolSession
import Testing

struct EncodingReaderTests {
    private static let schema = JSONSchema.object([AnyParameter.parameters.member, AnyParameter.encoding.member])

    private static func read(_ text: String) throws -> (parameters: StructuredValue?, encoding: ParameterEncoding) {
        let json = try JSON.parse(Array(text.utf8))
        do {
            try schema.validate(json, path: "params")
        } catch {
            throw RPCError.invalidParams(error)
        }
        let reader = EncodingReader()
        return (try reader.parameters(json["parameters"]), try reader.encoding(json["encoding"]))
    }

    private static func text(_ json: JSON) -> String {
        var writer = JSONWriter()
        writer.value(json)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("FE-06 to FE-18, Appendix B: every vector of the form")
    func form() throws {
        let rows = try Vectors.rows("form")
        #expect(rows.count > 100)
        for row in rows {
            let input = try #require(row["input"])
            let options = try #require(row["options"])
            let line = "\(Self.text(input)) \(Self.text(options))"
            try Self.schema.validate(
                try JSON.parse(Array(#"{"encoding":{"form":\#(Self.text(options))}}"#.utf8)), path: "params")
            let read = try Self.read(#"{"parameters":\#(Self.text(input)),"encoding":{"form":\#(Self.text(options))}}"#)
            guard case .form(let encoder, let destination) = read.encoding else {
                Issue.record("no form: \(line)")
                continue
            }
            #expect(destination == .methodDependent)
            if let name = row["error"]?.string {
                let error = #expect(throws: SessionError.self) { try encoder.encode(read.parameters ?? .null) }
                #expect(error?.name == "parameter_encoder_failed.encoder_failed")
                #expect(error?.cause("underlying")?.name == name)
            } else {
                #expect(try encoder.encode(read.parameters ?? .null) == row["output"]?.string, "\(line)")
            }
        }
    }

    @Test("PE-01 to PE-14, FE-01 to FE-05: every vector of whole requests")
    func requests() throws {
        let rows = try Vectors.rows("encoding")
        #expect(rows.count > 30)
        for row in rows {
            let read = try Self.read(
                """
                {"parameters":\(Self.text(try #require(row["parameters"]))),"encoding":\(Self.text(try #require(row["encoding"])))}
                """)
            let method = try #require(HTTPMethod(row["method"]?.string ?? ""))
            var request = TransportRequest(method: method, url: try HTTPURL(row["url"]?.string ?? ""))
            try row["headers"]?.forEachElement { (pair: JSON) in
                request.fields.append(
                    try HTTPField(name: pair[index: 0]?.string ?? "", value: pair[index: 1]?.string ?? ""))
            }
            try Self.expect(request, read.parameters ?? .null, read.encoding, row)
        }
    }

    private static func expect(
        _ request: TransportRequest, _ parameters: StructuredValue, _ encoding: ParameterEncoding, _ row: JSON
    ) throws {
        var request = request
        let result = try #require(row["result"])
        if let name = result["error"]?.string {
            let error = #expect(throws: SessionError.self) { try encoding.encode(parameters, into: &request) }
            #expect(error?.name == name)
            #expect(error?.cause("underlying")?.name == result["underlying"]?.string)
            return
        }
        try encoding.encode(parameters, into: &request)
        let comment = Comment(rawValue: text(row))
        #expect(request.url.description == result["url"]?.string, comment)
        let contentType = request.fields.first { $0.hasName("content-type") }
        #expect(contentType?.value == result["content_type"]?.string, comment)
        #expect(request.fields.count <= 1, comment)
        switch request.body {
        case .none: #expect(result["body"]?.isNull == true, comment)
        case .bytes(let bytes): #expect(String(decoding: bytes, as: UTF8.self) == result["body"]?.string, comment)
        case .file, .source: Issue.record("not in memory")
        }
    }

    @Test("PE-02: no parameters, and the encoding that is used unless another is named")
    func absent() throws {
        #expect(try Self.read("{}").parameters == nil)
        #expect(try Self.read(#"{"parameters":null}"#).parameters == nil)
        guard case .form(let encoder, .methodDependent) = try Self.read("{}").encoding else {
            Issue.record("no form")
            return
        }
        #expect(try encoder.encode(.object([.init("k", .array([.integer(2), .integer(1)]))])) == "k%5B%5D=1&k%5B%5D=2")
        guard case .propertyList(.binary) = try Self.read(#"{"encoding":{"plist":{"format":"binary"}}}"#).encoding
        else {
            Issue.record("no binary property list")
            return
        }
    }

    @Test(
        "What is wrong is refused at its place",
        arguments: [
            (#"{"encoding":"xml"}"#, "params.encoding"),
            (#"{"encoding":{"form":{"arrays":"comma"}}}"#, "params.encoding.form.arrays"),
            (#"{"encoding":{"form":{"array":"commas"}}}"#, "params.encoding.form.array"),
            (#"{"encoding":{"form":{},"json":{}}}"#, "params.encoding"), (#"{"encoding":{}}"#, "params.encoding"),
            (##"{"encoding":{"form":{"allowed_characters":"# "}}}"##, "params.encoding.form.allowed_characters"),
            (#"{"encoding":{"form":{"allowed_characters":"é"}}}"#, "params.encoding.form.allowed_characters"),
            (#"{"encoding":{"form":{"date":{"formatted":"%Q"}}}}"#, "params.encoding.form.date.formatted"),
            (#"{"encoding":{"form":{"date":{"formatted":"%"}}}}"#, "params.encoding.form.date.formatted"),
            (#"{"parameters":{"a":[1,{"$data":"Z"}]}}"#, "params.parameters.a[1].$data"),
            (#"{"parameters":{"a":{"$data":5}}}"#, "params.parameters.a.$data"),
            (#"{"parameters":{"$date":"now"}}"#, "params.parameters.$date"),
        ])
    func refusals(text: String, path: String) throws {
        let error = #expect(throws: RPCError.self) { try Self.read(text) }
        #expect(error?.message.contains("\(path):") == true, "\(String(describing: error))")
    }
}
