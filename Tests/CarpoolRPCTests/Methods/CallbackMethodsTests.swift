import CarpoolJSON
import CarpoolRPC
import Testing

@Suite struct CallbackMethodsTests {
    private static let callbacks = Catalogue.carpool.callbacks

    private func parse(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

    @Test func haveNamesOfTheirOwn() {
        let names = Self.callbacks.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.hasPrefix("callback.") && Catalogue.carpool[$0] == nil })
    }

    @Test(arguments: callbacks)
    func haveExamplesThatFitTheirSchemas(_ callback: CallbackDescription) throws {
        #expect(!callback.examples.isEmpty && callback.summary.last == "." && !callback.description.isEmpty)
        let params = JSONSchema.object(callback.params, additional: .later)
        for example in callback.examples {
            try params.validate(try parse(example.params), path: "params")
            try Catalogue.carpool.check(answer: try parse(example.result), to: callback.name)
        }
    }

    @Test(
        arguments: [
            ("callback.adapt", #"{"set_header":{}}"#, "result.set_header", "set_headers" as String?),
            ("callback.adapt", #"{"body":{"txt":""}}"#, "result.body.txt", "text"),
            ("callback.retry", #"{"decision":"rety"}"#, "result.decision", "retry"),
            ("callback.retry", #"{"decision":"retry","delay_ms":-1}"#, "result.delay_ms", nil),
            ("callback.redirect", "{}", "result.decision", nil),
            ("callback.validate", #"{"valid":"yes"}"#, "result.valid", nil),
            ("callback.preprocess", #"{"text":1}"#, "result.text", nil),
            ("callback.serialize", #"{"values":1}"#, "result.values", "value"),
            ("callback.refresh", #"{"credential":{"token":"x"}}"#, "result.credential.token", nil),
        ])
    func nameWhatIsWrongWithAnAnswer(_ name: String, _ answer: String, _ path: String, _ didYouMean: String?) throws {
        let error = #expect(throws: JSONError.self) {
            try Catalogue.carpool.check(answer: try parse(answer), to: name)
        }
        #expect(error?.path == path && error?.didYouMean == didYouMean)
    }

    @Test func areToldByTheDocument() throws {
        var writer = JSONWriter()
        Catalogue.carpool.openRPC(version: "1", to: &writer)
        let told = try #require(try JSON.parse(writer.bytes)["x-callbacks"])
        #expect(told.count == Self.callbacks.count)
        #expect(told[index: 0]?["name"]?.string == "callback.adapt")
        #expect(told[index: 0]?["examples"]?[index: 0]?["result"]?["set_headers"] != nil)
    }
}
