import Testing

@testable import CarpoolCurl

/// The chains of redirects were followed by the real curl 8.14.1; `nil` is a request without Authorization.
struct CurlLoginTests {
    private func follow(
        _ start: String, user: String? = nil, trusts: Bool = false, _ locations: [String]
    ) throws -> [String?] {
        var response = CurlResponseOptions()
        response.followsRedirects = true
        response.trustsRedirects = trusts
        let first = try CurlURL(start)
        let redirect = CurlRedirect(request: CurlRequestOptions(), response: response, first: first)
        var hop = CurlRedirect.Hop(url: first, login: CurlLogin(option: user))
        try hop.login.read(first)
        var sent = [hop.login.basic]
        for location in locations {
            guard case .follow(let next) = redirect.decide(status: 302, location: Array(location.utf8), hop) else {
                Issue.record("\(location) is not followed")
                return []
            }
            sent.append(next.isTrusted ? next.login.basic : nil)
            hop.url = next.url
            hop.login = next.login
            hop.count += 1
        }
        return sent
    }

    private let option = "Basic dTpw"
    private let url = "Basic dXM6cHc="

    @Test func usersOfTheOption() throws {
        #expect(try follow("http://h/", user: "u:p", ["/n"]) == [option, option])
        #expect(try follow("http://h/", user: "u:p", ["http://h:81/o"]) == [option, nil])
        #expect(try follow("http://h/", user: "u:p", ["http://other/o", "http://h/b"]) == [option, nil, option])
        #expect(try follow("http://h/", user: "u:p", ["http://h:81/o", "http://h/back"]) == [option, nil, nil])
        #expect(try follow("http://h/", user: "u:p", trusts: true, ["http://o:81/"]) == [option, option])
        #expect(try follow("http://h/", user: "u:p", ["http://us:pw@h/n"]) == [option, option])
        #expect(try follow("http://h/", user: "u:p", ["http://us:pw@h:81/n"]) == [option, nil])
    }

    @Test func usersOfURLs() throws {
        #expect(try follow("http://us:pw@h/", ["/n"]) == [url, url])
        #expect(try follow("http://us:pw@h/", ["http://h/n"]) == [url, url])
        #expect(try follow("http://h/", ["http://us:pw@h:81/n", "/z"]) == [nil, nil, nil])
        #expect(try follow("http://h/", ["http://us:pw@h/n", "http://h:81/z"]) == [nil, url, nil])
        #expect(try follow("http://h/", []) == [nil])
    }

    @Test func textsAreDecodedAndEncoded() throws {
        var login = CurlLogin()
        try login.read(CurlURL("http://u%40:p%3a@h/"))
        #expect(login.user == "u@" && login.password == "p:")
        #expect(login.basic == "Basic dUA6cDo=")
        #expect(login.written(into: try CurlURL("http://h/n")).text == "http://u%40:p%3a@h/n")
        #expect(CurlLogin(option: ":").basic == "Basic Og==")
        try login.read(CurlURL("http://x@h/"))
        #expect(login.user == "x" && login.password == "p:")
        #expect(throws: CurlError.self) { try login.read(CurlURL("http://a%0ab@h/")) }
    }
}
