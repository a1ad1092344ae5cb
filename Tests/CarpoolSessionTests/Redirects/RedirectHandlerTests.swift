import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct RedirectHandlerTests {
    private static func request(_ method: String, _ url: String, _ fields: [(String, String)] = []) throws
        -> TransportRequest
    {
        var request = TransportRequest(
            method: try #require(HTTPMethod(method)), url: try HTTPURL(url),
            fields: try fields.map { try HTTPField(name: $0.0, value: $0.1) })
        request.body = .bytes([1])
        return request
    }

    private static func next(
        _ status: Int, _ location: String, from request: TransportRequest, hop: Int = 1,
        _ handler: RedirectHandler = .follow
    ) throws -> TransportRequest {
        guard
            case .follow(let next) = handler.step(after: .make(status, [("Location", location)]), to: request, hop: hop)
        else { throw SessionError("not_followed", "\(status) to \(location)") }
        return next
    }

    private static func failure(_ handler: RedirectHandler, _ location: String, from url: String, hop: Int = 1) throws
        -> String?
    {
        let step = handler.step(after: .make(302, [("Location", location)]), to: try request("GET", url), hop: hop)
        guard case .fail(let error) = step else { return nil }
        return error.name
    }

    @Test(
        "RH-05: method and body after each status (RFC 9110, sections 15.4.2 to 15.4.9)",
        arguments: [
            (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"),
            (308, "POST", "POST"), (301, "PUT", "PUT"), (302, "DELETE", "DELETE"), (303, "PUT", "GET"),
            (303, "HEAD", "HEAD"), (301, "HEAD", "HEAD"), (307, "PATCH", "PATCH"), (302, "GET", "GET"),
        ])
    func methodAndBody(_ status: Int, _ method: String, _ expected: String) throws {
        let request = try Self.request(method, "http://a.test/", [("Content-Type", "text/plain"), ("X-Own", "1")])
        let next = try Self.next(status, "/next", from: request)
        #expect(next.method.rawValue == expected)
        let keeps = method == expected && expected != "GET" || status == 302 && method == "GET"
        if case .none = next.body { #expect(!keeps) } else { #expect(keeps) }
        #expect(next.fields.map(\.name) == (keeps ? ["Content-Type", "X-Own"] : ["X-Own"]))
    }

    @Test(
        "RH-05: credentials stay with their origin, and Host with its request",
        arguments: [
            ("https://a.test/other", true), ("https://a.test:443/other", true), ("/other", true),
            ("https://b.test/", false), ("https://a.test:444/", false), ("//b.test/", false),
        ])
    func credentials(_ location: String, _ stay: Bool) throws {
        let own = [("authorization", "Basic x"), ("Cookie", "a=b"), ("Host", "a.test"), ("Accept", "*/*")]
        let next = try Self.next(302, location, from: try Self.request("GET", "https://a.test/", own))
        #expect(next.fields.map(\.name) == (stay ? ["authorization", "Cookie", "Accept"] : ["Accept"]))
    }

    @Test("A step up to TLS is another origin, which gets no credentials")
    func upgrade() throws {
        let request = try Self.request("GET", "http://a.test/", [("Authorization", "Basic x")])
        let next = try Self.next(301, "https://a.test/", from: request)
        #expect(next.url.description == "https://a.test/")
        #expect(next.fields.isEmpty)
    }

    @Test("The other settings of the request stay the same")
    func theRest() throws {
        var request = try Self.request("GET", "http://a.test/")
        request.partition.trust = .none
        request.idleTimeoutMilliseconds = 7
        request.httpVersion = .http1
        let next = try Self.next(302, "http://b.test/", from: request)
        #expect(next.partition == request.partition)
        #expect(next.idleTimeoutMilliseconds == 7)
        #expect(next.httpVersion == .http1)
    }

    @Test(
        "Locations are references (RFC 3986, section 5)",
        arguments: [
            ("next", "http://a.test/dir/next"), ("/next?q=1", "http://a.test/next?q=1"),
            ("?q=2", "http://a.test/dir/page?q=2"),
            ("../up", "http://a.test/up"), ("//b.test:81/x", "http://b.test:81/x"),
            ("https://c.test/", "https://c.test/"),
            ("http://user:word@d.test/", "http://d.test/"), ("next page", "http://a.test/dir/next%20page"),
            ("next#part", "http://a.test/dir/next#part"),
        ])
    func references(_ location: String, _ expected: String) throws {
        let next = try Self.next(302, location, from: try Self.request("GET", "http://a.test/dir/page?q=1"))
        #expect(next.url.description == expected)
    }

    @Test(
        "An unusable target fails the request",
        arguments: [
            ("http://a.test/", "http://[broken", "session_task_failed.bad_url"),
            ("http://a.test/", "ftp://a.test/", "session_task_failed.unsupported_url"),
            ("http://a.test/", "http://a b/", "session_task_failed.bad_url"),
            ("https://a.test/", "http://a.test/", "session_task_failed.insecure_redirect"),
            ("https://a.test/", "http://b.test/", "session_task_failed.insecure_redirect"),
        ])
    func brokenTargets(_ url: String, _ location: String, _ name: String) throws {
        #expect(try Self.failure(.follow, location, from: url) == name)
    }

    @Test("RH-05: 16 hops, and one more fails", arguments: [(1, false), (16, false), (17, true)])
    func hopLimit(_ hop: Int, _ fails: Bool) throws {
        let name = try Self.failure(.follow, "/", from: "http://a.test/", hop: hop)
        #expect(name == (fails ? "session_task_failed.http_too_many_redirects" : nil))
    }

    @Test("No hops at all is not the same as not following")
    func noHops() throws {
        var handler = RedirectHandler.follow
        handler.maximumHops = 0
        #expect(
            try Self.failure(handler, "/", from: "http://a.test/") == "session_task_failed.http_too_many_redirects")
    }

    @Test("Only five statuses redirect, and only with a Location", arguments: [200, 204, 300, 304, 305, 306, 404])
    func otherStatuses(_ status: Int) throws {
        let request = try Self.request("GET", "http://a.test/")
        let head = ResponseHead.make(status, [("Location", "/x")])
        guard case .deliver = RedirectHandler.follow.step(after: head, to: request, hop: 1) else {
            Issue.record("\(status) was followed")
            return
        }
        guard case .deliver = RedirectHandler.follow.step(after: .make(302), to: request, hop: 1) else {
            Issue.record("a redirect without a target was followed")
            return
        }
    }

    @Test("RH-02: not followed, with any target", arguments: ["/next", "http://b.test/"])
    func doNotFollow(_ location: String) throws {
        let request = try Self.request("GET", "https://a.test/")
        let head = ResponseHead.make(302, [("Location", location)])
        guard case .decline(let target) = RedirectHandler.doNotFollow.step(after: head, to: request, hop: 1) else {
            Issue.record("not declined")
            return
        }
        #expect(target.description == (location == "/next" ? "https://a.test/next" : location))
        let broken = ResponseHead.make(302, [("Location", "http://[")])
        guard case .deliver = RedirectHandler.doNotFollow.step(after: broken, to: request, hop: 1) else {
            Issue.record("an invalid target does not matter")
            return
        }
    }
}
