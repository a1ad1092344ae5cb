import CarpoolHTTP
import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import CarpoolSystem
import Testing

struct ClientCallbackFactoryTests {
    private let scene: CallbackStage
    private var parts: ClientCallbackFactory { scene.parts() }

    init() throws { scene = try CallbackStage() }

    private func interceptor(_ more: String = "") throws -> any RequestInterceptor {
        try parts.interceptor(CallbackStage.callback(more), path: "c")
    }

    // MARK: Adapting

    /// The result for a request that a client adapts.
    private func adapt(
        _ request: TransportRequest? = nil, _ answer: String?, _ more: String = ""
    ) throws -> Result<TransportRequest, SessionError>? {
        var results: [Result<TransportRequest, SessionError>] = []
        try interceptor(more).adapt(try request ?? CallbackStage.transportRequest(), for: scene.request) {
            results.append($0)
        }
        if let answer { scene.answer(1, answer) } else { scene.peer.disconnect() }
        #expect(results.count == 1)
        return results.first
    }

    @Test("RI-01: the client sees the request as it would be sent")
    func adaptQuestion() throws {
        var request = try CallbackStage.transportRequest([("A", "1"), ("a", "2")])
        request.method = .post
        request.body = .bytes(Array("hé\n".utf8))
        try interceptor().adapt(request, for: scene.request) { _ in }
        let question = try scene.question()
        #expect(question["method"]?.string == "callback.adapt")
        let told = try #require(question["params"]?["url_request"])
        #expect(told["method"]?.string == "POST")
        #expect(told["url"]?.string == "https://example.com/a")
        #expect(told["headers"]?[index: 1]?[index: 0]?.string == "a")
        #expect(told["body"]?["text"]?.string == "hé\n")
        #expect(told["body"]?["size_bytes"]?.int == 4)
    }

    @Test("A body that is no text is base64; of one that does not fit the line only the size is sent")
    func bodies() throws {
        for (bytes, base64) in [([0xFF, 0x00] as [UInt8], "/wA="), ([UInt8](repeating: 0xFF, count: 40_000), nil)] {
            var request = try CallbackStage.transportRequest()
            request.body = .bytes(bytes)
            try interceptor().adapt(request, for: scene.request) { _ in }
            let body = try #require(try scene.question()["params"]?["url_request"]?["body"])
            #expect(body["base64"]?.string == base64)
            #expect(body["text"] == nil)
            #expect(body["size_bytes"]?.int == bytes.count)
        }
    }

    @Test("With fields and a URL of any length the callback fits the client's line, and is marked as shortened")
    func longQuestions() throws {
        let fields = (0..<100).map { ("X-\($0)", String(repeating: "\"", count: 2_000)) }
        var request = try CallbackStage.transportRequest(fields)
        request.url = try HTTPURL("https://example.com/\(String(repeating: "a", count: 60_000))")
        request.body = .bytes(Array("x".utf8))
        try interceptor().adapt(request, for: scene.request) { _ in }
        scene.peer.endTurn()
        let line = scene.peer.read()
        #expect(line.count <= scene.stage.server.limits.lineBytes + 1)
        let told = try #require(try JSON.parse(Array(line.dropLast()))["params"]?["url_request"])
        #expect(told["truncated"]?.bool == true)
        #expect((1..<100).contains(told["headers"]?.count ?? 0))
        #expect(told["body"]?["size_bytes"]?.int == 1)
    }

    @Test("Changes: fields are set, removed or replaced; method, URL and body are replaced")
    func changes() throws {
        let request = try CallbackStage.transportRequest([
            ("Accept", "*/*"), ("X-A", "1"), ("x-a", "2"), ("Host", "example.com"),
        ])
        #expect(try adapt(request, "{}")?.value?.fields == request.fields)
        let scene = try CallbackStage()
        var adapted: TransportRequest?
        func ask(_ number: Int, _ answer: String) throws {
            try scene.parts().interceptor(CallbackStage.callback(), path: "c").adapt(request, for: scene.request) {
                adapted = $0.value
            }
            scene.answer(number, answer)
        }
        try ask(1, #"{"set_headers":{"X-A":"3","Y":""},"remove_headers":["ACCEPT"]}"#)
        #expect(adapted?.fields.map { "\($0.name)=\($0.value)" } == ["Host=example.com", "X-A=3", "Y="])
        try ask(2, #"{"headers":[["B","1"],["B","2"]]}"#)
        #expect(adapted?.fields.map(\.value) == ["1", "2"])
        try ask(3, #"{"headers":{"B":["1","2"],"C":"3"},"method":"PUT","body":{"json":{"a":1.0}}}"#)
        #expect(adapted?.fields.map(\.value) == ["1", "2", "3"])
        #expect(adapted?.method.rawValue == "PUT")
        guard case .bytes(let body)? = adapted?.body else { return #expect(Bool(false), "no body") }
        #expect(String(decoding: body, as: UTF8.self) == #"{"a":1.0}"#)
        try ask(4, #"{"url":"http://[::1]:8080/x?y"}"#)
        #expect(adapted?.url.description == "http://[::1]:8080/x?y")
        #expect(adapted?.fields.contains { $0.isNamed("host") } == false, "it named the other authority")
    }

    @Test(
        "Values that no request can have are an invalid answer, and the error names the member",
        arguments: [
            (#"{"method":"CONNECT"}"#, "result.method"), (#"{"url":"/x"}"#, "result.url"),
            (#"{"set_headers":{"A":"b\r\nC: d"}}"#, "result.set_headers"),
            (#"{"headers":[["Content-Length","1"]]}"#, "result.headers"),
            (#"{"headers":{"a b":"1"}}"#, "result.headers"), (#"{"set_headers":{"Host":"a b"}}"#, "Host"),
            (#"{"body":{"base64":"?"}}"#, "result.body.base64"), (#"{"heders":[]}"#, "did you mean headers"),
            (#"{"set_headers":{"A":1}}"#, "result.set_headers.A"), ("[]", "result"),
        ])
    func impossibleChanges(_ answer: String, _ words: String) throws {
        let error = try #require(try adapt(nil, answer)?.failure)
        #expect(error.name == "callback_failed" && error.text("reason") == "invalid_answer")
        #expect(error.message.contains(words))
    }

    @Test("A client that refuses fails the request with its own message, with every on_failure")
    func refuses() throws {
        let error = try adapt(nil, #"{"fail":{"message":"no key"}}"#, #","on_failure":"skip""#)?.failure
        #expect(error?.name == "client_refused" && error?.message == "no key" && error?.text("callback") == "sign")
    }

    @Test("on_failure of an adapter", arguments: [("", false), ("fail", false), ("skip", true), ("retry", false)])
    func adaptFallback(_ fallback: String, _ goesOn: Bool) throws {
        let result = try adapt(nil, nil, fallback.isEmpty ? "" : #","on_failure":"\#(fallback)""#)
        #expect(result?.value?.fields.count == (goesOn ? 1 : nil))
        #expect(result?.failure?.text("reason") == (goesOn ? nil : "disconnected"))
    }

    @Test("A client that handles one kind of callback does not get the other")
    func handles() throws {
        var adapted = false
        try interceptor(#","handles":["retry"]"#).adapt(CallbackStage.transportRequest(), for: scene.request) {
            adapted = $0.value != nil
        }
        #expect(adapted)
        var decision: RetryResult?
        try interceptor(#","handles":["adapt"]"#).retry(scene.request, dueTo: .explicitlyCancelled) { decision = $0 }
        guard case .doNotRetry? = decision else { return #expect(Bool(false), "\(String(describing: decision))") }
        #expect(try scene.questions().isEmpty)
    }

    // MARK: Retrying

    private func retry(_ answer: String?, _ more: String = "") throws -> String {
        var decision: RetryResult?
        try interceptor(more).retry(scene.request, dueTo: SessionError("x.y", "z")) { decision = $0 }
        if let answer { scene.answer(1, answer) } else { scene.peer.disconnect() }
        switch decision {
        case .retry: return "retry"
        case .retryWithDelay(let milliseconds): return "retry \(milliseconds)"
        case .retryWithNewCredential: return "retry with a new credential"
        case .doNotRetry: return "no"
        case .doNotRetryWithError(let error): return "\(error)"
        case nil: return "-"
        }
    }

    @Test(
        "RI-02: decisions",
        arguments: [
            (#"{"decision":"retry"}"#, "retry"), (#"{"decision":"retry","delay_ms":0}"#, "retry"),
            (#"{"decision":"retry","delay_ms":250}"#, "retry 250"), (#"{"decision":"do_not_retry"}"#, "no"),
            (#"{"decision":"do_not_retry_with_error","message":"enough"}"#, "client_refused: enough"),
            (#"{"decision":"perhaps"}"#, "no"), (nil, "no"),
        ])
    func decisions(_ answer: String?, _ expected: String) throws { #expect(try retry(answer) == expected) }

    @Test("The client gets the failure, the response and the number of retries")
    func retryQuestion() throws {
        scene.request.response = .make(503, [("retry-after", "1")])
        scene.request.attempts.append(scene.request.attempts[0])
        scene.request.machine.retryCount = 1
        try interceptor().retry(scene.request, dueTo: SessionError("x.y", "z", hint: "h")) { _ in }
        let params = try #require(try scene.question()["params"])
        #expect(params["error"]?["name"]?.string == "x.y")
        #expect(params["response"]?["status"]?.int == 503)
        #expect(params["retry_count"]?.int == 1)
        #expect(params["attempt"]?.int == 2)
    }

    @Test("Without an answer, on_failure retry retries twice, with growing delays", arguments: [1, 2, 3])
    func blindRetries(_ attempt: Int) throws {
        scene.request.machine.retryCount = attempt - 1
        #expect(try retry(nil, #","on_failure":"retry""#) == ["retry 500", "retry 1000", "no"][attempt - 1])
    }

    // MARK: Redirects

    @Test(
        "RH-03: a redirect is followed as proposed, changed, or not at all",
        arguments: [
            (#"{"decision":"follow"}"#, "", "https://example.com/a"),
            (#"{"decision":"follow","url":"https://example.com/c"}"#, "", "https://example.com/c"),
            (#"{"decision":"do_not_follow"}"#, "", "-"), (nil, "", "-"), (nil, "do_not_follow", "-"),
            (nil, "follow", "https://example.com/a"), (nil, "fail", "callback_failed"),
            (#"{"decision":"follow","url":"x"}"#, "fail", "callback_failed"),
        ])
    func redirects(_ answer: String?, _ fallback: String, _ expected: String) throws {
        var result: Result<TransportRequest?, SessionError>?
        let more = fallback.isEmpty ? "" : #","on_failure":"\#(fallback)""#
        try parts.redirectDecider(CallbackStage.callback(more), path: "r").redirect(
            scene.request, after: .make(302, [("location", "/a")]), to: CallbackStage.transportRequest()
        ) { result = $0 }
        if let answer { scene.answer(1, answer) } else { scene.peer.disconnect() }
        switch result {
        case .success(let next): #expect(next?.url.description ?? "-" == expected)
        case .failure(let error): #expect(error.name == expected)
        case nil: #expect(Bool(false), "no decision")
        }
    }

    // MARK: Responses

    @Test("VA-07: a response that the client does not accept fails with its message")
    func validates() throws {
        var verdicts: [SessionError?] = []
        try scene.request.receive(Array("[]".utf8))
        scene.request.response = .make(200)
        let validator = try parts.validator(CallbackStage.callback(), path: "v")
        validator.validate(scene.request) { verdicts.append($0) }
        let params = try #require(try scene.question()["params"])
        #expect(params["response"]?["status"]?.int == 200)
        #expect(params["body"]?["text"]?.string == "[]")
        scene.answer(1, #"{"valid":false,"message":"empty"}"#)
        let error = try #require(verdicts.first ?? nil)
        #expect(error.name == "response_validation_failed.custom_validation_failed")
        #expect(error.cause("underlying")?.message == "empty")
        let lenient = try parts.validator(CallbackStage.callback(#","on_failure":"pass""#), path: "v")
        lenient.validate(scene.request) { verdicts.append($0) }
        scene.answer(2, "7")
        #expect(verdicts.count == 2 && verdicts[1] == nil)
    }

    @Test("A response's body that does not fit the line is passed as a file")
    func largeBodies() throws {
        try scene.request.receive([UInt8](repeating: 0xFF, count: 40_000))
        try parts.validator(CallbackStage.callback(), path: "v").validate(scene.request) { _ in }
        let body = try #require(try scene.question()["params"]?["body"])
        #expect(body["size_bytes"]?.int == 40_000)
        #expect(body["file"]?.string?.hasPrefix(scene.stage.folder("spool/\(scene.request.id)_")) == true)
    }

    @Test("RS-10: the client's value is the request's, with any JSON")
    func serializes() throws {
        var results: [Result<SerializedValue, SessionError>] = []
        let serializer = try parts.serializer(CallbackStage.callback(), path: "s")
        #expect(serializer.isTyped && serializer.name == "callback")
        let answers = [
            #"{"value":[1e400,null]}"#, #"{"value":null}"#, #"{"fail":{"message":"bad"}}"#, "{}",
        ]
        for (index, answer) in answers.enumerated() {
            serializer.serialize(scene.request) { results.append($0) }
            scene.answer(index + 1, answer)
        }
        guard case .jsonText(let value)? = results[0].value, case .jsonText(let null)? = results[1].value else {
            return #expect(Bool(false), "\(results)")
        }
        #expect(String(decoding: value.bytes, as: UTF8.self) == "[1e400,null]")
        #expect(String(decoding: null.bytes, as: UTF8.self) == "null")
        #expect(results[2].failure?.name == "response_serialization_failed.custom_serialization_failed")
        #expect(results[2].failure?.cause("underlying")?.message == "bad")
        #expect(results[3].failure?.text("reason") == "invalid_answer")
        try parts.serializer(CallbackStage.callback(#","on_failure":"none""#), path: "s").serialize(scene.request) {
            results.append($0)
        }
        scene.answer(5, "{}")
        guard case .none? = results[4].value else { return #expect(Bool(false), "a value") }
    }

    @Test("RS-09: the bytes of a body are those that the client answers")
    func preprocesses() throws {
        var results: [Result<[UInt8], SessionError>] = []
        let answers = [#"{"text":"é"}"#, #"{"base64":"/w=="}"#, #"{"base64":"?"}"#, #"{"fail":{"message":"m"}}"#]
        for (index, answer) in answers.enumerated() {
            try parts.preprocessor(CallbackStage.callback(), path: "p").preprocess([1], of: scene.request) {
                results.append($0)
            }
            scene.answer(index + 1, answer)
        }
        #expect(results.map(\.value) == [Array("é".utf8), [0xFF], nil, nil])
        #expect(results[2].failure?.text("reason") == "invalid_answer")
        #expect(results[3].failure?.cause("underlying")?.name == "client_refused")
        try parts.preprocessor(CallbackStage.callback(#","on_failure":"none""#), path: "p").preprocess(
            [1], of: scene.request
        ) { results.append($0) }
        scene.peer.disconnect()
        #expect(results[4].value == [1])
    }

    // MARK: Credentials

    @Test("AI-01: a client obtains a new credential; the refresh token stays unless the answer has another")
    func refreshes() throws {
        var results: [Result<OAuth2Credential, SessionError>] = []
        let session = scene.request.session
        let old = OAuth2Credential(accessToken: "a", refreshToken: "r", expires: 0)
        func ask(_ number: Int, _ answer: String) throws {
            try parts.refresher(CallbackStage.callback(), path: "f").refresh(old, for: session) { results.append($0) }
            scene.answer(number, answer)
        }
        let before = WallClock.microseconds()
        try ask(1, #"{"credential":{"access_token":"b","expires_in_ms":1000}}"#)
        let params = try #require(try scene.question()["params"])
        #expect(params["request"] == nil && params["attempt"] == nil && params["session"]?.string == "default")
        #expect(params["credential"]?["expires"]?.string == "1970-01-01T00:00:00.000000Z")
        let new = try #require(results[0].value)
        #expect(new.accessToken == "b" && new.refreshToken == "r")
        #expect((before + 1_000_000...WallClock.microseconds() + 1_000_000).contains(try #require(new.expires)))
        try ask(2, #"{"credential":{"access_token":"c","refresh_token":"s"}}"#)
        #expect(results[1].value == OAuth2Credential(accessToken: "c", refreshToken: "s"))
        try ask(3, #"{"credential":{"access_token":""}}"#)
        #expect(results[2].failure?.text("reason") == "invalid_answer")
        try ask(4, #"{"fail":{"message":"signed out"}}"#)
        #expect(results[3].failure?.name == "client_refused")
    }

    // MARK: Descriptions

    @Test("The refusal of an empty name has its path")
    func emptyName() throws {
        let json = try JSON.parse(Array(#"{"name":""}"#.utf8))
        let error = #expect(throws: RPCError.self) {
            _ = try parts.validator(json, path: "params.validate[0].callback")
        }
        #expect(error?["path"] == "params.validate[0].callback.name")
    }
}
