import CarpoolJSON
import CarpoolRPC
import Testing

@Suite struct CatalogueTests {
    private static let catalogues = [Catalogue.carpool, .specification]
    private static let methods = Catalogue.carpool.methods

    private func parse(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

    @Test func namesAreUnique() {
        let names = CatalogueTests.methods.flatMap { [$0.name] + $0.aliases }
        #expect(Set(names).count == names.count)
        let errors = RPCErrorKind.all.map(\.name.description)
        #expect(Set(errors).count == errors.count)
        let types = EventType.allCases.map(\.name.description)
        #expect(Set(types).count == types.count)
    }

    @Test(arguments: methods)
    func isDescribed(_ method: Method) {
        #expect(method.name.split(separator: ".").count == 2 && method.name == method.name.lowercased())
        #expect(!method.summary.isEmpty && method.summary.last == "." && !method.description.isEmpty)
        #expect(!method.examples.isEmpty)
        #expect(Set(method.params.map(\.name.description)).count == method.params.count)
        for member in method.params { #expect(!member.summary.isEmpty) }
    }

    @Test("Required parameters come before optional ones, as OpenRPC 1.3 demands", arguments: methods)
    func hasRequiredParametersFirst(_ method: Method) throws {
        var writer = JSONWriter()
        Catalogue.carpool.openRPC(version: "1", to: &writer)
        var required: [Bool] = []
        try JSON.parse(writer.bytes)["methods"]?.forEachElement { described in
            guard described["name"]?.string == method.name else { return }
            described["params"]?.forEachElement { required.append($0["required"]?.bool ?? false) }
        }
        #expect(required == required.filter { $0 } + required.filter { !$0 })
        #expect(method.params.map(\.required) == required)
    }

    @Test(arguments: methods)
    func hasExamplesThatFitItsSchemas(_ method: Method) throws {
        for example in method.examples {
            _ = try Catalogue.carpool.bind(params: try parse(example.params), of: method)
            try method.result.validate(try parse(example.result), path: "result")
        }
    }

    @Test(arguments: methods)
    func hasDefaultsThatFitTheirSchemas(_ method: Method) throws {
        for member in method.params {
            guard let absent = member.defaultValue else { continue }
            #expect(!member.required)
            try member.schema.validate(try parse(absent.description), path: member.name.description)
        }
    }

    @Test func hasAnExampleOfItsNotification() throws {
        let event = try #require(Catalogue.carpool.notifications.first)
        let example = try parse(event.example)
        try event.params.validate(try #require(example["params"]), path: "params")
        let type = try #require(EventType.allCases.first { $0.name.description == example["params"]?["type"]?.string })
        try JSONSchema.object(type.row.data).validate(try #require(example["params"]?["data"]), path: "data")
    }

    @Test(arguments: EventType.allCases)
    func hasARowOfEachEvent(_ type: EventType) {
        let row = type.row
        #expect(row.type == type && row.name.description != "" && row.summary.last == ".")
    }

    @Test(arguments: EventType.allCases)
    func hasAnExampleOfEachEvent(_ event: EventType) throws {
        let type = event.row
        try JSONSchema.object(type.data).validate(try parse(type.example), path: type.name.description)
        #expect(type.data.isEmpty || !type.data.contains { $0.required } || type.example != "{}")
    }

    @Test func takesParametersInOrderOrByName() throws {
        let perform = try #require(Catalogue.carpool["request.perform"])
        let byName = try Catalogue.carpool.bind(params: try parse(#"{"method":"PUT","url":"u"}"#), of: perform)
        let inOrder = try Catalogue.carpool.bind(params: try parse(#"["u","PUT"]"#), of: perform)
        for params in [byName, inOrder] {
            #expect(params["url"]?.string == "u" && params["method"]?.string == "PUT" && params["body"] == nil)
        }
        var writer = JSONWriter()
        inOrder.write(to: &writer)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"url":"u","method":"PUT"}"#)
        let ping = try #require(Catalogue.carpool["daemon.ping"])
        for none in [nil, try parse("[]"), try parse("{}")] {
            #expect(try Catalogue.carpool.bind(params: none, of: ping)["x"] == nil)
        }
    }

    @Test(arguments: [
        (#"{"url":"u","body":{"fil":"/x"}}"#, "params.body.fil", "file" as String?),
        (#"{"url":"u","timeout":1}"#, "params.timeout", "timeout_ms"),
        (#"{"url":"u","trust":{"verify":true}}"#, "params.trust.verify", nil),
        (#"{"url":"u","redirect":"folow"}"#, "params.redirect", "follow"),
        (#"{"url":"u","headers":[["a"]]}"#, "params.headers[0]", nil),
        (#"{"url":"u","cache":{"store":"ours"}}"#, "params.cache.store", nil),
        (#"{"url":"u","cache":"no-store"}"#, "params.cache", "no_store"),
        (#"["u",1]"#, "params[1]", nil),
        (#"{"method":"GET"}"#, "params.url", nil),
    ])
    func namesWhatIsWrong(_ params: String, _ path: String, _ didYouMean: String?) throws {
        let perform = try #require(Catalogue.carpool["request.perform"])
        let error = #expect(throws: RPCError.self) {
            try Catalogue.carpool.bind(params: try parse(params), of: perform)
        }
        #expect(error?.code == -32602 && error?["path"] == path && error?["did_you_mean"] == didYouMean)
    }

    @Test func namesThePlaceOfASettingOfAStore() throws {
        let perform = try #require(Catalogue.carpool["request.perform"])
        let error = #expect(throws: RPCError.self) {
            try Catalogue.carpool.bind(params: try parse(#"{"url":"u","cache":{"disk_bytes":0}}"#), of: perform)
        }
        #expect(error?.message.contains("it belongs to the `cache` of a session") == true)
    }

    @Test func findsMethodsByAliasAndSpelling() {
        #expect(Catalogue.carpool["$/cancelRequest"]?.name == "rpc.cancel")
        #expect(Catalogue.carpool.methodNotFound("request.perfrom")["did_you_mean"] == "request.perform")
        #expect(Catalogue.carpool.methodNotFound("zzz")["did_you_mean"] == nil)
    }

    @Test(arguments: catalogues)
    func describesItself(_ catalogue: Catalogue) throws {
        var writer = JSONWriter()
        catalogue.openRPC(version: "1.2.3", to: &writer)
        let document = try JSON.parse(writer.bytes)
        #expect(document["openrpc"]?.string == "1.3.2" && document["info"]?["version"]?.string == "1.2.3")
        #expect(document["methods"]?.count == catalogue.methods.count)
        #expect(document["x-errors"]?.count == RPCErrorKind.all.count)
        let schemas = try #require(document["components"]?["schemas"])
        var references: Set<String> = []
        collectReferences(document, into: &references)
        let defined = references.filter { schemas[String($0.dropFirst("#/components/schemas/".count))] != nil }
        #expect(defined == references && references.count == schemas.count)
    }

    private func collectReferences(_ json: JSON, into found: inout Set<String>) {
        if let reference = json["$ref"]?.string { found.insert(reference) }
        json.forEachMember { (_: String, value: JSON) in collectReferences(value, into: &found) }
        json.forEachElement { collectReferences($0, into: &found) }
    }
}
