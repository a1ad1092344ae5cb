import CarpoolJSON
import Testing

@Suite struct JSONSchemaTests {
    private static let body = JSONSchema.named(
        "Body",
        .oneOf(
            .object([.init("text", .string, "Text.", required: true)]),
            .object([.init("json", .any, "JSON.", required: true)]),
            .object([
                .init("file", .string(maxBytes: 8), "A path.", required: true),
                .init("offset", .integer(0 ... .max), "From there.", default: "0"),
            ])))

    private static let request = JSONSchema.object([
        .init("url", .string, "The URL.", required: true),
        .init("method", .choice("GET", "POST", "PURGE"), "The method.", default: "\"GET\""),
        .init("timeout_ms", .integer(1...60_000), "In milliseconds."),
        .init(
            "headers",
            .oneOf(
                .map(of: .oneOf(.string, .array(of: .string)), maxCount: 2),
                .array(of: .array(of: .string, count: 2...2))), "Headers."),
        .init("body", body, "The body."),
        .init("priority", .number, "From 0 to 1."),
        .init("decode", .boolean, "Whether to decode."),
        .init("key", .string.nullable, "A key."),
    ])

    private func failure(_ text: String) throws -> JSONError? {
        let json = try JSON.parse(Array(text.utf8))
        do { try Self.request.validate(json, path: "params") } catch { return error }
        return nil
    }

    @Test(arguments: [
        #"{"url":"u"}"#,
        #"{"url":"u","method":"PURGE","timeout_ms":60000,"priority":0.5,"decode":false,"key":null}"#,
        #"{"url":"u","headers":{"a":"b","c":["d","e"]},"body":{"text":""},"priority":1,"key":"k"}"#,
        #"{"url":"u","headers":[["a","b"],["a","c"]],"body":{"json":1e999},"priority":99999999999999999999}"#,
        #"{"url":"u","body":{"file":"/x","offset":9223372036854775807}}"#,
    ])
    func accepts(_ text: String) throws { #expect(try failure(text) == nil) }

    @Test(arguments: [
        (#"[]"#, "params", "an object with \"url\"", nil as String?),
        (#"{}"#, "params.url", "a string", nil),
        (#"{"url":1}"#, "params.url", "a string", nil),
        (#"{"url":"u","timout_ms":1}"#, "params.timout_ms", nil as String?, "timeout_ms"),
        (#"{"url":"u","zzz":1}"#, "params.zzz", nil, nil),
        (#"{"url":"u","method":"PSOT"}"#, "params.method", "one of \"GET\", \"POST\", \"PURGE\"", "POST"),
        (#"{"url":"u","method":7}"#, "params.method", nil, nil),
        (#"{"url":"u","timeout_ms":0}"#, "params.timeout_ms", "an integer from 1 to 60000", nil),
        (#"{"url":"u","timeout_ms":1.0}"#, "params.timeout_ms", "an integer from 1 to 60000", nil),
        (#"{"url":"u","timeout_ms":99999999999999999999}"#, "params.timeout_ms", nil, nil),
        (#"{"url":99999999999999999999}"#, "params.url", "a string", nil),
        (#"{"url":"u","headers":{"a":1}}"#, "params.headers.a", "a string, or an array", nil),
        (#"{"url":"u","headers":{"a":"1","b":"2","c":"3"}}"#, "params.headers", "an object of at most 2 members", nil),
        (#"{"url":"u","headers":[["a"]]}"#, "params.headers[0]", "an array of 2 elements", nil),
        (#"{"url":"u","headers":[["a","b"],["a",null]]}"#, "params.headers[1][1]", "a string", nil),
        (#"{"url":"u","body":{"txet":""}}"#, "params.body.txet", "one of text, json, file", "text"),
        (#"{"url":"u","body":{}}"#, "params.body", nil, nil),
        (#"{"url":"u","body":{"text":"","json":1}}"#, "params.body", "one of them", nil),
        (#"{"url":"u","body":{"file":"/long/path"}}"#, "params.body.file", "a string of at most 8 bytes", nil),
        (#"{"url":"u","body":{"file":"/","ofset":1}}"#, "params.body.ofset", "one of file, offset", "offset"),
        (#"{"url":"u","body":{"file":"/","offset":-1}}"#, "params.body.offset", "an integer of at least 0", nil),
        (#"{"url":"u","decode":"true"}"#, "params.decode", "true or false", nil),
        (#"{"url":"u","key":1}"#, "params.key", "a string, or null", nil),
    ])
    func refuses(_ text: String, _ path: String, _ expected: String?, _ didYouMean: String?) throws {
        let error = try failure(text)
        #expect(error?.code == .schema && error?.path == path && error?.didYouMean == didYouMean)
        if let expected { #expect(error?.expected == expected) }
    }

    @Test func showsOnlyTheBeginningOfALongName() throws {
        let error = try failure(#"{"url":"u","\#(String(repeating: "x", count: 100_000))":1}"#)
        #expect((error?.path?.utf8.count ?? .max) < 100)
    }

    @Test func describesItself() throws {
        var writer = JSONWriter()
        Self.request.write(to: &writer)
        let json = try JSON.parse(writer.bytes)
        #expect(json["type"]?.string == "object" && json["additionalProperties"]?.bool == false)
        #expect(json["required"]?.count == 1 && json["required"]?[index: 0]?.string == "url")
        let properties = try #require(json["properties"])
        #expect(properties.count == 8)
        #expect(properties["method"]?["enum"]?.count == 3 && properties["method"]?["default"]?.string == "GET")
        #expect(properties["timeout_ms"]?["minimum"]?.integer == 1)
        #expect(properties["body"]?["$ref"]?.string == "#/components/schemas/Body")
        #expect(properties["headers"]?["oneOf"]?[index: 1]?["items"]?["maxItems"]?.integer == 2)
        var named: [String: JSONSchema] = [:]
        Self.request.collectNamed(into: &named)
        #expect(named.keys.sorted() == ["Body"])
    }

    @Test(arguments: [
        ("timout_ms", "timeout_ms"), ("timeout", "timeout_ms"), ("url_", "url"), ("q", nil), ("", nil), ("usl", "url"),
    ])
    func findsTheNearestName(_ name: String, _ nearest: String?) {
        #expect(NearestName.find(name, among: ["url", "timeout_ms", "resource_timeout_ms"]) == nearest)
    }

    @Test(arguments: [
        ("--oauth2-secret", "--oauth2-client-secret"), ("connect_ms", "connect_timeout_ms"), ("oauth2.ids", nil),
    ])
    func findsANameWithMoreWords(_ name: String, _ nearest: String?) {
        let names = ["--oauth2-scope", "--oauth2-client-id", "--oauth2-client-secret", "connect_timeout_ms"]
        #expect(NearestName.find(name, among: names) == nearest)
    }

    @Test(arguments: [
        ("--proxy-usr", "--proxy-user"), ("--proxy-users", "--proxy-user"), ("--proxy-user-name", "--proxy-user"),
        ("--prox", "--proxy"), ("--proxytunel", "--proxytunnel"), ("--proxy-", "--proxy"),
    ])
    func prefersOneEditToABeginning(_ name: String, _ nearest: String) {
        let names = ["--proxy", "--proxy-user", "--proxytunnel", "--preproxy"]
        #expect(NearestName.find(name, among: names) == nearest)
        #expect(NearestName.find(name, among: names.reversed()) == nearest)
    }
}
