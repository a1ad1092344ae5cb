import CarpoolHTTP
import CarpoolJSON
@testable import CarpoolSession
import Testing

/// The common rules of the serializers, and the simple serializers.
struct SerializerTests {
    private static func typed(_ input: SerializerInput = SerializerInput()) -> [any ResponseSerializer] {
        [
            DataResponseSerializer(input: input), StringResponseSerializer(input: input),
            JSONResponseSerializer(input: input), PropertyListResponseSerializer(input: input),
        ]
    }

    @Test("The names in records and events, and which serializers are typed (RL-16)")
    func names() {
        #expect(Self.typed().map(\.name) == ["data", "string", "json", "plist"])
        #expect(!Self.typed().map(\.isTyped).contains(false))
        #expect(UnserializedResponse().name == "none")
        #expect(!UnserializedResponse().isTyped)
    }

    @Test(
        "RS-02: an empty body is allowed for some methods and some statuses",
        arguments: [
            ("GET", 200, false), ("HEAD", 200, true), ("GET", 204, true), ("POST", 205, true), ("POST", 201, false),
            ("head", 200, false),
        ])
    func empty(_ method: String, _ status: Int, _ isAllowed: Bool) throws {
        let answered = try Answered(status, method: method)
        for serializer in Self.typed() {
            guard !isAllowed else {
                #expect(throws: Never.self) { try answered.value(serializer) }
                continue
            }
            let error = try answered.failure(serializer)
            #expect(error.name == "response_serialization_failed.input_data_nil_or_zero_length")
        }
    }

    @Test("RS-02, RL-20: the original request's method counts, not that of the redirect")
    func emptyAfterRedirect() throws {
        let stage = try Stage()
        let request = stage.send { $0.method = .post }
        stage.transport.respond(303, [("Location", "/elsewhere")])
        #expect(stage.transport.requests.last?.method == .get)
        stage.transport.respond(200)
        func isAllowed(_ method: HTTPMethod) -> Bool {
            EmptyResponseRule(methods: [method], statuses: []).allows(request)
        }
        #expect(isAllowed(.post))
        #expect(!isAllowed(.get))
    }

    @Test("RS-02: both lists can be chosen, and replace the defaults")
    func emptyChosen() throws {
        var input = SerializerInput()
        input.emptyResponse = EmptyResponseRule(methods: [.post], statuses: [200])
        #expect(try Answered(200).value(DataResponseSerializer(input: input)).bytes == [])
        #expect(try Answered(500, method: "POST").value(DataResponseSerializer(input: input)).bytes == [])
        for serializer in Self.typed(input) { _ = try Answered(204).failure(serializer) }
        _ = try Answered(404, method: "HEAD").failure(DataResponseSerializer(input: input))
    }

    @Test("RS-03 to RS-06: what an empty body becomes where it is allowed")
    func emptyValues() throws {
        let answered = try Answered(204)
        #expect(try answered.value(DataResponseSerializer()).bytes == [])
        #expect(try answered.value(StringResponseSerializer()).text == "")
        #expect(try answered.value(JSONResponseSerializer()).json?.isNull == true)
        #expect(try answered.value(PropertyListResponseSerializer()).structured == .null)
    }

    @Test("The bytes as they came, from memory and from a file", arguments: [45_056, 0])
    func data(_ memoryLimit: Int) throws {
        let bytes = Array(UInt8.min...UInt8.max)
        let answered = try Answered(200, body: bytes, memoryLimit: memoryLimit)
        #expect(try answered.value(DataResponseSerializer()).bytes == bytes)
    }

    @Test("The handler without a serializer has no value with any response", arguments: [200, 204, 500])
    func none(_ status: Int) throws {
        #expect(try Answered(status, body: [1]).value(UnserializedResponse()).isNone)
        #expect(try Answered(status).value(UnserializedResponse()).isNone)
    }

    @Test(
        "RS-09: a prefix of six bytes is removed, once",
        arguments: [
            (")]}',\n{}", "{}"), ("{}", "{}"), (")]}',{}", ")]}',{}"), (")]}',\n)]}',\n1", ")]}',\n1"), (")]}", ")]}"),
            (" )]}',\n{}", " )]}',\n{}"),
        ])
    func xssi(_ body: String, _ expected: String) throws {
        let input = SerializerInput(preprocessor: XSSIPreprocessor())
        #expect(try Answered(text: body).value(DataResponseSerializer(input: input)).bytes == Array(expected.utf8))
    }

    @Test("RS-11: the empty rule comes before the preprocessor, which sees no empty body")
    func orderOfRules() throws {
        let input = SerializerInput(preprocessor: XSSIPreprocessor())
        let answered = try Answered(text: ")]}',\n")
        #expect(try answered.value(DataResponseSerializer(input: input)).bytes == [])
        #expect(try answered.value(StringResponseSerializer(input: input)).text == "")
        let json = try answered.failure(JSONResponseSerializer(input: input))
        #expect(json.name == "response_serialization_failed.json_serialization_failed")
        let list = try answered.failure(PropertyListResponseSerializer(input: input))
        #expect(list.name == "response_serialization_failed.decoding_failed")
        let silent = SerializerInput(preprocessor: LatePreprocessor())
        #expect(try Answered(204).value(DataResponseSerializer(input: silent)).bytes == [])
    }

    @Test("A preprocessor may answer later, and its failure is the serializer's")
    func latePreprocessor() throws {
        let late = LatePreprocessor()
        let answered = try Answered(text: "abc")
        var answers: [Result<SerializedValue, SessionError>] = []
        let serializer = StringResponseSerializer(input: SerializerInput(preprocessor: late))
        for _ in 0..<2 { serializer.serialize(answered.request) { answers.append($0) } }
        #expect(answers.isEmpty)
        late.waiting[0](.success(Array("xyz".utf8)))
        late.waiting[1](.failure(.customSerializationFailed(SessionError("thrown", "no"))))
        #expect(try answers.first?.get().text == "xyz")
        let error = try #require(throws: SessionError.self) { try answers.last?.get() }
        #expect(error.name == "response_serialization_failed.custom_serialization_failed")
    }

    @Test("RS-10: a closure's own error is wrapped in custom_serialization_failed, a SessionError is not")
    func closures() throws {
        struct Refusal: Error {}
        let answered = try Answered(text: "abc")
        let value = try answered.value(ClosureSerializer { request, bytes in .string("\(request.id) \(bytes.count)") })
        #expect(value.text == "r_1 3")
        let custom = try answered.failure(ClosureSerializer { _, _ in throw Refusal() })
        #expect(custom.name == "response_serialization_failed.custom_serialization_failed")
        #expect(custom.cause("underlying")?.message == "Refusal()")
        #expect(try answered.failure(ClosureSerializer { _, _ in throw SessionError("mine", "no") }).name == "mine")
        #expect(try Answered(200).value(ClosureSerializer { _, bytes in .data(bytes) }).bytes == [])
        #expect(ClosureSerializer(name: "mine") { _, _ in .none }.isTyped)
    }

    @Test("RS-08: a file that cannot be read, a body that was discarded, one that is too large")
    func unreadable() throws {
        let answered = try Answered(200, body: [1, 2, 3], memoryLimit: 0)
        answered.stage.spool.failure = .read
        for serializer in Self.typed() {
            let error = try answered.failure(serializer)
            #expect(error.name == "response_serialization_failed.input_file_read_failed")
            #expect(error.text("path") == "/spool/r_1")
        }
        answered.request.discardBody()
        let gone = try answered.failure(DataResponseSerializer())
        #expect(gone.name == "response_serialization_failed.input_file_nil")
    }
}

/// Answers when the test calls it.
private final class LatePreprocessor: ResponsePreprocessor {
    var waiting: [(Result<[UInt8], SessionError>) -> Void] = []

    func preprocess(
        _ body: [UInt8], of request: Request, completion: @escaping (Result<[UInt8], SessionError>) -> Void
    ) {
        waiting.append(completion)
    }
}
