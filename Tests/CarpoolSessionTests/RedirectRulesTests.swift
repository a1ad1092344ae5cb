import CarpoolHTTP
@testable import CarpoolSession
import Testing

/// What callers can change about redirects: options, modifications and deciders.
struct RedirectRulesTests {
    private final class Decider: RedirectDecider {
        func redirect(
            _ request: Request, after response: ResponseHead, to proposed: TransportRequest,
            completion: @escaping (Result<TransportRequest?, SessionError>) -> Void
        ) {}
    }

    private static func request(_ method: String, _ url: String, _ fields: [(String, String)] = []) throws
        -> TransportRequest
    {
        var request = TransportRequest(
            method: try #require(HTTPMethod(method)), url: try HTTPURL(url),
            fields: try fields.map { try HTTPField(name: $0.0, value: $0.1) })
        if method != "GET" { request.body = .bytes([1]) }
        return request
    }

    /// The outcome in one line: method, URL, fields and whether there is a body; or another outcome.
    private static func told(_ step: RedirectHandler.Step) -> String {
        switch step {
        case .deliver: return "deliver"
        case .decline(let url): return "decline \(url)"
        case .ask(_, let next): return "ask \(told(.follow(next)))"
        case .fail(let error): return "fail \(error.name)"
        case .follow(let next):
            let body = if case .none = next.body { "" } else { " body" }
            return "\(next.method.rawValue) \(next.url) \(next.fields.map { "\($0.name)=\($0.value)" })\(body)"
        }
    }

    private static func step(
        _ status: Int, _ location: String, _ request: TransportRequest, hop: Int = 1,
        _ behaviour: RedirectHandler.Behaviour = .follow, _ change: (inout RedirectHandler) -> Void = { _ in }
    ) -> String {
        var handler = RedirectHandler(behaviour)
        change(&handler)
        return told(handler.step(after: .make(status, [("Location", location)]), to: request, hop: hop))
    }

    @Test("RH-05: keep_method keeps method and body", arguments: [301, 302, 303, 307, 308])
    func keepMethod(_ status: Int) throws {
        let request = try Self.request("POST", "http://a.test/", [("Content-Type", "text/plain")])
        #expect(
            Self.step(status, "/x", request) { $0.keepsMethod = true }
                == "POST http://a.test/x [\"Content-Type=text/plain\"] body")
    }

    @Test("RFC 9110, section 15.4: the fields about a body are removed with it")
    func contentFields() throws {
        let names = ["Content-Type", "content-encoding", "CONTENT-LANGUAGE", "Content-MD5", "Digest", "Last-Modified"]
        let request = try Self.request("POST", "http://a.test/", names.map { ($0, "x") } + [("X", "1")])
        #expect(Self.step(303, "/x", request) == "GET http://a.test/x [\"X=1\"]")
    }

    @Test("RFC 9110, section 10.1.1: the fields about the transfer of a body are removed with it")
    func transferFields() throws {
        var request = try Self.request("POST", "http://a.test/", [("X", "1")])
        request.hasDefaultFields = false
        let fields = [("transfer-encoding", "chunked"), ("Expect", "100-continue"), ("Trailer", "Digest")]
        request.fields += try fields.map { try HTTPField(ofConnection: $0.0, value: $0.1) }
        #expect(Self.step(303, "/x", request) == "GET http://a.test/x [\"X=1\"]")
        #expect(Self.step(307, "/x", request).hasSuffix("\"Trailer=Digest\"] body"))
    }

    @Test(
        "RH-05: keep_authorization",
        arguments: [
            (RedirectHandler.Authorization.never, "/x", false), (.never, "http://b.test/", false),
            (.sameOrigin, "/x", true), (.sameOrigin, "http://b.test/", false), (.always, "/x", true),
            (.always, "http://b.test/", true),
        ])
    func authorization(_ policy: RedirectHandler.Authorization, _ location: String, _ stays: Bool) throws {
        let request = try Self.request("GET", "http://a.test/", [("Authorization", "A"), ("Cookie", "c=1")])
        let told = Self.step(302, location, request) { $0.authorization = policy }
        #expect(told.contains("Authorization") == stays)
        // Cookies are for one origin with every policy of Authorization.
        #expect(told.contains("Cookie") == (location == "/x"))
    }

    @Test("Further names stay with their origin, in any case")
    func strippedFields() throws {
        let request = try Self.request("GET", "http://a.test/", [("X-Mine", "k"), ("X", "1")])
        let change = { (handler: inout RedirectHandler) in handler.strippedFields = ["x-mINE"] }
        #expect(Self.step(302, "/x", request, .follow, change) == "GET http://a.test/x [\"X-Mine=k\", \"X=1\"]")
        #expect(Self.step(302, "http://b.test/", request, .follow, change) == "GET http://b.test/ [\"X=1\"]")
        #expect(
            Self.step(302, "http://b.test/", request, .follow) { $0.authorization = .always }
                == "GET http://b.test/ [\"X-Mine=k\", \"X=1\"]")
    }

    @Test("A5: fields with the names of secrets stay with their origin, unless keptFields names them")
    func a5SecretFields() throws {
        let names = ["X-Api-Key", "Api-Key", "X-Auth-Token", "X-Vault-Token", "Private-Token", "X-Amz-Security-Token"]
        let request = try Self.request("GET", "http://a.test/", names.map { ($0, "k") } + [("Idempotency-Key", "1")])
        #expect(Self.step(302, "/x", request) == Self.told(.follow(request)).replacing("a.test/", with: "a.test/x"))
        #expect(Self.step(302, "http://b.test/", request) == "GET http://b.test/ [\"Idempotency-Key=1\"]")
        #expect(
            Self.step(302, "http://b.test/", request) { $0.keptFields = ["api-key"] }
                == "GET http://b.test/ [\"Api-Key=k\", \"Idempotency-Key=1\"]")
    }

    @Test("allow_downgrade leaves TLS, without credentials")
    func downgrade() throws {
        let request = try Self.request("GET", "https://a.test/", [("Authorization", "A")])
        #expect(Self.step(302, "http://a.test/", request) == "fail session_task_failed.insecure_redirect")
        #expect(Self.step(302, "http://a.test/", request) { $0.allowsDowngrade = true } == "GET http://a.test/ []")
    }

    @Test(
        "RFC 9110, section 10.2.2: a target inherits the fragment unless it has its own",
        arguments: [
            ("/y", "http://a.test/y#top"), ("/y#own", "http://a.test/y#own"), ("/y#", "http://a.test/y#"),
            ("http://b.test/", "http://b.test/#top"), ("?q", "http://a.test/x?q#top"),
        ])
    func fragments(_ location: String, _ expected: String) throws {
        let told = Self.step(302, location, try Self.request("GET", "http://a.test/x#top"))
        // Some libcurls write an empty fragment, some leave it out.
        #expect(told == "GET \(expected) []" || expected.hasSuffix("#") && told == "GET \(expected.dropLast()) []")
    }

    @Test("The failure has the limit", arguments: [0, 2])
    func limit(_ limit: Int) throws {
        let step = RedirectHandler.limited(to: limit).step(
            after: .make(302, [("Location", "/")]), to: try Self.request("GET", "http://a.test/"), hop: limit + 1)
        guard case .fail(let error) = step, case .integer(let told)? = error.details.first?.value else {
            Issue.record("not failed")
            return
        }
        #expect(error.details.first?.name == "limit")
        #expect(told == limit)
    }

    // MARK: Modifications

    private static func modified(
        _ location: String, _ request: TransportRequest, _ change: (inout RedirectModification) throws -> Void
    ) rethrows -> String {
        var modification = RedirectModification()
        try change(&modification)
        return step(307, location, request, .modify(modification))
    }

    @Test("RH-03: a modification changes the result of the rules")
    func modification() throws {
        let request = try Self.request("PUT", "http://a.test/", [("Content-Type", "t"), ("X", "1"), ("Y", "2")])
        #expect(
            try Self.modified("/x", request) {
                $0.method = HTTPMethod("PATCH")
                $0.fields = [try HTTPField(name: "x", value: "9"), try HTTPField(name: "Z", value: "3")]
                $0.removedFields = ["y", "absent"]
            } == "PATCH http://a.test/x [\"Content-Type=t\", \"x=9\", \"Z=3\"] body")
        #expect(Self.modified("/x", request) { $0.dropsBody = true } == "PUT http://a.test/x [\"X=1\", \"Y=2\"]")
        #expect(Self.modified("/x", request) { $0.method = .get } == "GET http://a.test/x [\"X=1\", \"Y=2\"]")
        #expect(Self.modified("/x", request) { _ in } == Self.step(307, "/x", request))
    }

    @Test("RH-03: values that a modification sets are kept; the rules apply to the others")
    func meant() throws {
        let request = try Self.request("GET", "https://a.test/", [("Authorization", "A")])
        let elsewhere = try HTTPURL("http://b.test/")
        #expect(Self.modified("https://b.test/", request) { _ in } == "GET https://b.test/ []")
        #expect(
            try Self.modified("https://b.test/", request) {
                $0.fields = [try HTTPField(name: "Authorization", value: "B")]
            }
                == "GET https://b.test/ [\"Authorization=B\"]")
        #expect(Self.modified("/x", request) { $0.url = elsewhere } == "GET http://b.test/ []")
        #expect(Self.modified("http://a.test/", request) { _ in } == "fail session_task_failed.insecure_redirect")
        #expect(
            Self.modified("http://a.test/", request) { $0.url = request.url }
                == "GET https://a.test/ [\"Authorization=A\"]")
        #expect(
            try Self.modified("/x", request) { $0.url = try HTTPURL("https://u:p@a.test/") }
                == "GET https://a.test/ [\"Authorization=Basic dTpw\"]")
    }

    // MARK: Deciders

    @Test("RH-03: a decider gets the result of the rules, within the limit, also for a step from TLS to plain HTTP")
    func asked() throws {
        let request = try Self.request("POST", "https://a.test/", [("Authorization", "A"), ("Content-Type", "t")])
        #expect(Self.step(302, "/x", request, .ask(Decider())) == "ask GET https://a.test/x [\"Authorization=A\"]")
        #expect(Self.step(302, "http://b.test/", request, .ask(Decider())) == "ask GET http://b.test/ []")
        #expect(
            Self.step(302, "/x", request, hop: 17, .ask(Decider()))
                == "fail session_task_failed.http_too_many_redirects")
        #expect(Self.step(302, "http://[", request, .ask(Decider())) == "fail session_task_failed.bad_url")
    }

    /// The result of a decider that makes this change to the proposal.
    private static func answered(
        _ location: String, _ request: TransportRequest, _ change: (inout TransportRequest) throws -> Void
    ) throws -> String {
        let handler = RedirectHandler(.ask(Decider()))
        let head = ResponseHead.make(307, [("Location", location)])
        guard case .ask(_, var next) = handler.step(after: head, to: request, hop: 1) else { return "not asked" }
        let target = next.url
        try change(&next)
        return told(handler.step(answer: next, target: target, from: request, after: head))
    }

    @Test("RH-03: the rules apply to values that a decider left unchanged; values that it set are kept")
    func answers() throws {
        let request = try Self.request("PUT", "https://a.test/", [("Authorization", "A"), ("X", "1")])
        let unchanged = try Self.answered("/x", request) { _ in }
        #expect(unchanged == "PUT https://a.test/x [\"Authorization=A\", \"X=1\"] body")
        let elsewhere = try Self.answered("/x", request) { $0.url = try HTTPURL("http://b.test/") }
        #expect(elsewhere == "PUT http://b.test/ [\"X=1\"] body")
        let echoed = try Self.answered("/x", request) {
            $0.url = try HTTPURL("https://b.test/")
            $0.fields = [try HTTPField(name: "authorization", value: "A")]
        }
        #expect(echoed == "PUT https://b.test/ [] body")
        let own = try Self.answered("https://b.test/", request) {
            $0.fields += [try HTTPField(name: "Authorization", value: "B"), try HTTPField(name: "Host", value: "c")]
        }
        #expect(own == "PUT https://b.test/ [\"X=1\", \"Authorization=B\"] body")
        let downgraded = try Self.answered("http://a.test/", request) { _ in }
        #expect(downgraded == "fail session_task_failed.insecure_redirect")
        let method = try Self.answered("/x", request) { $0.method = .get }
        #expect(method == "GET https://a.test/x [\"Authorization=A\", \"X=1\"]")
    }

    @Test("User information is used where the decider set it, not where the origin did")
    func userInformation() throws {
        let request = try Self.request("GET", "http://a.test/")
        let origins = try Self.answered("http://u:p@b.test/", request) { _ in }
        #expect(origins == "GET http://b.test/ []")
        let own = try Self.answered("/x", request) { $0.url = try HTTPURL("http://u:p@b.test/") }
        #expect(own == "GET http://b.test/ [\"Authorization=Basic dTpw\"]")
        let both = try Self.answered("/x", request) {
            $0.url = try HTTPURL("http://u:p@b.test/")
            $0.fields = [try HTTPField(name: "Authorization", value: "B")]
        }
        #expect(both == "GET http://b.test/ [\"Authorization=B\"]")
    }

    @Test("RH-02, RH-03: no request means that the redirect is the response")
    func declined() throws {
        let request = try Self.request("GET", "http://a.test/")
        let step = RedirectHandler(.ask(Decider())).step(
            answer: nil, target: try HTTPURL("http://b.test/"), from: request, after: .make(302))
        #expect(Self.told(step) == "decline http://b.test/")
    }
}
