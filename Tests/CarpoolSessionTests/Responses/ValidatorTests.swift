import CarpoolHTTP
import CarpoolJSON
@testable import CarpoolSession
import Testing

struct ValidatorTests {
    @Test(
        "VA-03: any list of codes; an empty one accepts none",
        arguments: [
            ([200...299], 200, true), ([200...299], 299, true), ([200...299], 300, false), ([200...299], 199, false),
            ([200...204, 304...304], 304, true), ([200...204, 304...304], 205, false), ([], 200, false),
            ([404...404], 404, true), ([100...999], 999, true),
        ] as [([ClosedRange<Int>], Int, Bool)])
    func status(_ ranges: [ClosedRange<Int>], _ status: Int, _ isAcceptable: Bool) throws {
        let error = try Answered(status).judge(StatusValidator(ranges))
        #expect(error?.name == (isAcceptable ? nil : "response_validation_failed.unacceptable_status_code"))
        #expect(error?.number("code") == (isAcceptable ? nil : status))
    }

    @Test("VA-02: without parameters it is 200 to 299")
    func successful() throws {
        for status in 200...299 { #expect(try Answered(status).judge(StatusValidator.successful) == nil) }
        for status in [300, 404, 500, 999] { #expect(try Answered(status).judge(StatusValidator.successful) != nil) }
    }

    @Test("VA-04 to VA-06, VA-10: the cases of mime.jsonl")
    func contentTypes() throws {
        let cases = try Vectors.rows("mime")
        #expect(cases.count >= 70)
        for json in cases {
            let list = try #require(json["acceptable"])
            let acceptable = (0..<list.count).compactMap { list[index: $0]?.string }
            let type = json["content_type"]?.string.map { [("Content-Type", $0)] } ?? []
            let error = try Answered(200, type, body: [1]).judge(ContentTypeValidator(acceptable))
            let place: Comment = "\(acceptable) \(type)"
            #expect(error?.name == json["error"]?.string.map { "response_validation_failed.\($0)" }, place)
            #expect(error?.texts("acceptable_content_types") == (error == nil ? nil : acceptable.sorted()), place)
            #expect(error?.text("response_content_type") == json["response_content_type"]?.string, place)
        }
    }

    @Test("VA-04: a response without a body passes with any acceptable types", arguments: [200, 204, 404])
    func emptyBody(_ status: Int) throws {
        let answered = try Answered(status, [("Content-Type", "text/plain")])
        #expect(try answered.judge(ContentTypeValidator(["application/json"])) == nil)
        #expect(try answered.judge(ContentTypeValidator([])) == nil)
        #expect(try Answered(status).judge(ContentTypeValidator([])) == nil)
    }

    @Test("VA-04: a body in a file is a body")
    func bodyInAFile() throws {
        let answered = try Answered(200, [("Content-Type", "text/plain")], body: [1, 2], memoryLimit: 0)
        #expect(try answered.judge(ContentTypeValidator(["application/json"])) != nil)
    }

    @Test(
        "VA-02: the request's own Accept, split at commas, parameters ignored; without one anything passes",
        arguments: [
            ([], "x/y", true), (["application/json"], "application/json", true),
            (["application/json"], "text/html", false),
            (["text/html, application/json;q=0.9"], "application/json", true),
            (["text/html,\tapplication/json"], "application/json", true),
            (["text/html", "text/css"], "text/css", true),
            (["text/html;q=0"], "text/html", true), (["text/*"], "text/html", true), (["*/*"], "x/y", true),
            ([""], "x/y", false), ([",,"], "x/y", false), (["json"], "application/json", false),
        ])
    func acceptHeader(_ accept: [String], _ type: String, _ isAcceptable: Bool) throws {
        let answered = try Answered(200, [("Content-Type", type)], body: [1], accept: accept)
        let error = try answered.judge(AcceptHeaderValidator())
        #expect((error == nil) == isAcceptable)
    }

    @Test(
        "VA-02, VA-05: a body without a type passes only if any type is acceptable",
        arguments: [([], true), (["text/html, */*;q=0.1"], true), (["text/*"], false)])
    func acceptHeaderWithoutType(_ accept: [String], _ isAcceptable: Bool) throws {
        let error = try Answered(200, body: [1], accept: accept).judge(AcceptHeaderValidator())
        #expect(error?.name == (isAcceptable ? nil : "response_validation_failed.missing_content_type"))
    }

    @Test("VA-06: the error has the list sorted, with its parameters, and without blanks between its entries")
    func acceptHeaderDetails() throws {
        let answered = try Answered(
            200, [("Content-Type", "text/html; charset=x")], body: [1], accept: ["image/png;q=0.5, application/json"])
        let error = try #require(try answered.judge(AcceptHeaderValidator()))
        #expect(error.name == "response_validation_failed.unacceptable_content_type")
        #expect(error.texts("acceptable_content_types") == ["application/json", "image/png;q=0.5"])
        #expect(error.text("response_content_type") == "text/html")
    }

    @Test("Long values of other parties are truncated in the error")
    func bounded() throws {
        let long = String(repeating: "x", count: 100_000)
        let answered = try Answered(200, [("Content-Type", "text/\(long)")], body: [1])
        let many = (0..<1_000).map { "\(long)/\($0)" }
        let error = try #require(try answered.judge(ContentTypeValidator(many)))
        #expect(error.message.utf8.count < 1_000)
        #expect(error.text("response_content_type")?.utf8.count == 200)
        #expect(error.texts("acceptable_content_types")?.count == 32)
        #expect(error.texts("acceptable_content_types")?.allSatisfy { $0.utf8.count == 200 } == true)
    }

    @Test("VA-07: a closure's own error is wrapped in custom_validation_failed, a SessionError is not")
    func closures() throws {
        struct Refusal: Error {}
        let answered = try Answered(200, body: [1])
        let seen = ClosureValidator { request, head in
            if request.body.count != 1 || head.status != 200 { throw Refusal() }
        }
        #expect(try answered.judge(seen) == nil)
        let custom = try #require(try answered.judge(ClosureValidator { _, _ in throw Refusal() }))
        #expect(custom.name == "response_validation_failed.custom_validation_failed")
        #expect(custom.cause("underlying")?.message == "Refusal()")
        let own = try answered.judge(ClosureValidator(name: "mine") { _, _ in throw SessionError("mine", "no") })
        #expect(own?.name == "mine")
        #expect(ClosureValidator(name: "mine") { _, _ in }.name == "mine")
    }

    @Test("VA-08: without a response nothing is validated")
    func noResponse() throws {
        let stage = try Stage()
        let request = stage.send()
        let validators: [any ResponseValidator] = [
            StatusValidator([]), ContentTypeValidator([]), AcceptHeaderValidator(),
            ClosureValidator { _, _ in throw SessionError("never", "asked") },
        ]
        for validator in validators {
            var answers: [SessionError?] = []
            validator.validate(request) { answers.append($0) }
            #expect(answers.count == 1)
            #expect(answers.first.map { $0 == nil } == true)
        }
        #expect(validators.map(\.name) == ["status", "content_type", "content_type", "closure"])
    }

    @Test("F-03: a response that is not accepted keeps its body")
    func bodyStays() throws {
        let answered = try Answered(404, [("Content-Type", "application/problem+json")], body: Array("{}".utf8))
        #expect(try answered.judge(StatusValidator.successful) != nil)
        #expect(try answered.request.body.bytes(atMost: 10) == Array("{}".utf8))
    }
}
