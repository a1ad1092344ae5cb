import Testing

@testable import CarpoolCurl

struct CurlRedirectTests {
    private static func redirect(
        _ first: String, _ change: (inout CurlRequestOptions, inout CurlResponseOptions) -> Void = { _, _ in }
    ) throws -> CurlRedirect {
        var request = CurlRequestOptions()
        var response = CurlResponseOptions()
        response.followsRedirects = true
        change(&request, &response)
        return CurlRedirect(request: request, response: response, first: try CurlURL(first, .guessesScheme))
    }

    private static func next(
        _ redirect: CurlRedirect, _ status: Int, _ location: String, _ body: CurlMethod.Body = .none,
        login: CurlLogin = CurlLogin(), from url: CurlURL? = nil
    ) throws -> CurlRedirect.Next {
        let hop = CurlRedirect.Hop(url: url ?? redirect.first, body: body, login: login)
        guard case .follow(let next) = redirect.decide(status: status, location: Array(location.utf8), hop) else {
            throw NoNext()
        }
        return next
    }

    struct NoNext: Error {}

    @Test("URLs are resolved as curl 8.14.1 does", arguments: CurlRedirectCases.all)
    func urls(_ base: String, _ location: String, _ expected: String, _ target: String) throws {
        let head = Array("HTTP/1.1 302 Found\r\nA: b\r\nlocation: \(location)\r\nLocation: /2\r\n\r\n".utf8)
        let value = CurlRedirect.location(inHead: head)
        let redirect = try CurlRedirectTests.redirect(base)
        let hop = CurlRedirect.Hop(url: redirect.first)
        switch redirect.decide(status: 302, location: value, hop) {
        case .follow(let next): #expect(next.url.text == expected)
        case .fail(let error, _, nil, true): #expect("! \(error.message)" == expected)
        case let other: Issue.record("\(other)")
        }
        let stays = try CurlRedirectTests.redirect(base) { $1.followsRedirects = false }
        #expect(stays.decide(status: 302, location: value, hop) == .stop(redirectURL: target))
    }

    @Test("Other statuses and empty locations lead nowhere")
    func noRedirect() throws {
        let redirect = try CurlRedirectTests.redirect("h")
        let hop = CurlRedirect.Hop(url: redirect.first)
        for (status, location) in [(200, "/x"), (201, "/x"), (400, "/x"), (302, "")] {
            let decision = redirect.decide(status: status, location: Array(location.utf8), hop)
            #expect(decision == .stop(redirectURL: nil))
        }
        #expect(redirect.decide(status: 302, location: nil, hop) == .stop(redirectURL: nil))
        #expect(
            CurlRedirect.location(inHead: Array("HTTP/1.1 100\r\nLocation: /x\r\n\r\nHTTP/1.1 302\r\n\r\n".utf8)) == nil
        )
    }

    /// Status, method of -X, body, and the method and the body that curl sent next.
    static let methodCases: [(Int, String?, CurlMethod.Body, String, CurlMethod.Body)] = [
        (301, nil, .post, "GET", .none), (302, nil, .post, "GET", .none), (303, nil, .post, "GET", .none),
        (307, nil, .post, "POST", .post), (308, nil, .post, "POST", .post), (300, nil, .post, "POST", .post),
        (304, nil, .post, "POST", .post), (305, nil, .post, "POST", .post), (301, nil, .upload, "PUT", .upload),
        (303, nil, .upload, "GET", .none), (308, nil, .upload, "PUT", .upload), (301, "PATCH", .post, "PATCH", .none),
        (303, "PATCH", .post, "PATCH", .none), (307, "PATCH", .post, "PATCH", .post),
        (303, "PATCH", .none, "PATCH", .none),
        (302, nil, .none, "GET", .none),
    ]

    @Test(arguments: methodCases)
    func methods(
        _ status: Int, _ method: String?, _ body: CurlMethod.Body, _ expected: String, _ kept: CurlMethod.Body
    ) throws {
        let redirect = try CurlRedirectTests.redirect("h") { request, _ in request.method = method }
        let next = try CurlRedirectTests.next(redirect, status, "/n", body)
        #expect(next.method == expected && next.body == kept)
    }

    @Test(arguments: [301, 302, 303])
    func postStaysPost(_ status: Int) throws {
        let redirect = try CurlRedirectTests.redirect("h") { _, response in response.keepsPost = [status] }
        #expect(try CurlRedirectTests.next(redirect, status, "/n", .post).method == "POST")
        let head = try CurlRedirectTests.redirect("h") { request, _ in request.isHead = true }
        #expect(try CurlRedirectTests.next(head, status, "/n").method == "HEAD")
    }

    @Test("The limit of redirects is an error with the URL that comes next")
    func limit() throws {
        let redirect = try CurlRedirectTests.redirect("http://h/a") { _, response in response.maximumRedirects = 1 }
        let location = Array("/m".utf8)
        var hop = CurlRedirect.Hop(url: redirect.first)
        guard case .follow = redirect.decide(status: 302, location: location, hop) else { throw NoNext() }
        hop.count = 1
        let error = CurlError(exitCode: 47, message: "Maximum (1) redirects followed")
        #expect(
            redirect.decide(status: 302, location: location, hop)
                == .fail(error, url: nil, redirectURL: "http://h/m", isCounted: false))
        let unlimited = try CurlRedirectTests.redirect("h") { _, response in response.maximumRedirects = -1 }
        hop.count = 1_000
        guard case .follow = unlimited.decide(status: 302, location: location, hop) else { throw NoNext() }
    }

    @Test func schemesAreLimited() throws {
        let redirect = try CurlRedirectTests.redirect("h") { _, response in response.schemes = ["http"] }
        let hop = CurlRedirect.Hop(url: redirect.first)
        let error = CurlError(exitCode: 1, message: "Protocol \"https\" disabled (in redirect)")
        #expect(
            redirect.decide(status: 302, location: Array("https://h/n".utf8), hop)
                == .fail(error, url: try CurlURL("https://h/n"), redirectURL: nil, isCounted: true))
    }

    @Test func pathsStayOnlyInAbsoluteLocations() throws {
        let redirect = try CurlRedirectTests.redirect("h/x") { request, _ in request.keepsPath = true }
        #expect(try CurlRedirectTests.next(redirect, 302, "../z/../w").url.text == "http://h/w")
        #expect(try CurlRedirectTests.next(redirect, 302, "http://h/a/../b").url.text == "http://h/a/../b")
    }

    @Test(
        "Credentials go to the origin of the first URL alone, unless all are trusted",
        arguments: [
            ("/n", true, true), ("http://H/n", true, true), ("http://h:80/n", true, true),
            ("http://h:81/n", false, true), ("https://h/n", false, true), ("https://h:80/n", false, true),
            ("http://i/n", false, false), ("http://h.i/n", false, false),
        ])
    func credentials(_ location: String, _ isTrusted: Bool, _ isFirstHost: Bool) throws {
        let next = try CurlRedirectTests.next(try CurlRedirectTests.redirect("http://h/a"), 302, location)
        #expect(next.isTrusted == isTrusted && next.isFirstHost == isFirstHost)
        let trusting = try CurlRedirectTests.redirect("http://h/a") { _, response in response.trustsRedirects = true }
        #expect(try CurlRedirectTests.next(trusting, 302, location).isTrusted)
    }

    @Test func referersAreURLsWithoutUserAndFragment() throws {
        let redirect = try CurlRedirectTests.redirect("http://us:pw@h/a#f") { request, _ in request.setsReferer = true }
        #expect(try CurlRedirectTests.next(redirect, 302, "/n#g").referer == "http://h/a")
        let other = try CurlRedirectTests.redirect("http://h/a")
        #expect(try CurlRedirectTests.next(other, 302, "/n").referer == nil)
    }
}
