import CarpoolSystem
import Testing

@testable import CarpoolCurl

/// The requests of a transfer, as redirects change them. The expectations are the requests that curl 8.14.1 sent.
struct CurlHopTests {
    private static func planned(_ words: [String]) throws -> CurlPlannedTransfer {
        let line = try CurlLine.read(words)
        var plan = CurlPlan(try line.invocation.operations.map { try CurlPreparedOperation($0, Environment([:])) })
        return try #require(try plan.next())
    }

    /// The requests of a transfer whose responses have these statuses and locations.
    private static func hops(_ words: [String], _ responses: [(Int, String)]) throws -> [CurlHop] {
        let transfer = try planned(words)
        let options = transfer.operation.options
        var hop = try CurlHop(transfer)
        let redirect = CurlRedirect(request: options.request, response: options.response, first: hop.url)
        var hops = [hop]
        for (status, location) in responses {
            let state = CurlRedirect.Hop(url: hop.url, body: hop.body, login: hop.login, count: hop.redirects)
            guard case .follow(let next) = redirect.decide(status: status, location: Array(location.utf8), state) else {
                Issue.record("\(location) is not followed")
                return hops
            }
            hop = hop.following(next, transfer.operation.logins)
            hops.append(hop)
        }
        return hops
    }

    private static func failure(_ words: [String]) throws -> CurlError? {
        let transfer = try planned(words)
        do throws(CurlError) {
            _ = try CurlHop(transfer)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "The first request",
        arguments: [
            (["h"], "http://h/", "GET"), (["HTTPS://h/a"], "https://h/a", "GET"),
            (["--proto-default", "https", "h"], "https://h/", "GET"), (["-I", "h"], "http://h/", "HEAD"),
            (["--proto-default", "https", "http://h"], "http://h/", "GET"),
            (["-d", "a", "h"], "http://h/", "POST"), (["-F", "a=b", "h"], "http://h/", "POST"),
            (["-T", "f", "h/d/"], "http://h/d/f", "PUT"), (["-X", "x", "-d", "a", "h"], "http://h/", "x"),
            (["-G", "-d", "a", "h"], "http://h/?a", "GET"), (["h/a/../b"], "http://h/b", "GET"),
            (["--path-as-is", "h/a/../b"], "http://h/a/../b", "GET"),
        ])
    func first(_ words: [String], _ url: String, _ method: String) throws {
        let hop = try #require(try Self.hops(words, []).first)
        #expect(hop.url.text == url && hop.method == method)
        #expect(hop.isTrusted && hop.isFirstHost && hop.redirects == 0)
    }

    @Test(
        "URLs that are refused",
        arguments: [
            (["bogus://h"], 1, "Protocol \"bogus\" not supported"),
            (["--proto", "=https", "http://h"], 1, "Protocol \"http\" disabled"),
            (["--proto", "-all", "https://h"], 1, "Protocol \"https\" disabled"),
            (["http://h:x/"], 3, "URL rejected: Port number was not a decimal number between 0 and 65535"),
            (["http:///"], 3, "URL rejected: No host part in the URL"),
            (["http://a%0ab@h/"], 3, "URL using bad/illegal format or missing URL"),
        ] as [([String], Int32, String)])
    func refused(_ words: [String], _ code: Int32, _ message: String) throws {
        let failure = try Self.failure(words)
        #expect(failure?.exitCode == code && failure?.message == message)
    }

    /// The options, the status, and the method and the body that followed.
    static let methods: [([String], Int, String, CurlMethod.Body)] = [
        (["-d", "a"], 301, "GET", .none), (["-d", "a"], 302, "GET", .none), (["-d", "a"], 303, "GET", .none),
        (["-d", "a"], 307, "POST", .post), (["-d", "a"], 308, "POST", .post),
        (["-d", "a", "--post301"], 301, "POST", .post), (["-d", "a", "--post302"], 302, "POST", .post),
        (["-d", "a", "--post303"], 303, "POST", .post), (["-d", "a", "--post301"], 302, "GET", .none),
        (["-d", "a", "--post301", "--no-post301"], 301, "GET", .none),
        (["-F", "a=b"], 302, "GET", .none), (["-F", "a=b", "--post302"], 302, "POST", .post),
        (["-T", "f"], 301, "PUT", .upload), (["-T", "f"], 302, "PUT", .upload), (["-T", "f"], 303, "GET", .none),
        (["-T", "f"], 308, "PUT", .upload), (["-T", "f", "--post303"], 303, "GET", .none),
        (["-X", "POST", "-d", "a"], 302, "POST", .none), (["-X", "DELETE"], 303, "DELETE", .none),
        (["-I"], 303, "HEAD", .none), ([], 308, "GET", .none),
    ]

    @Test("Methods and bodies after a redirect", arguments: methods)
    func following(_ words: [String], _ status: Int, _ method: String, _ body: CurlMethod.Body) throws {
        let hops = try Self.hops(["-L"] + words + ["http://h/a"], [(status, "/b")])
        #expect(hops.map(\.url.text) == ["http://h/a", "http://h/b"])
        #expect(hops.last?.method == method && hops.last?.body == body)
        #expect(hops.map(\.redirects) == [0, 1])
    }

    @Test func aBodyThatWasDroppedDoesNotComeBack() throws {
        let hops = try Self.hops(["-L", "-d", "a", "http://h/"], [(302, "/b"), (307, "/c"), (308, "/d")])
        #expect(hops.map(\.method) == ["POST", "GET", "GET", "GET"])
        #expect(hops.map(\.body) == [.post, .none, .none, .none])
    }

    @Test(
        "The lines Authorization and Cookie go to the first origin, the line Host to the first host",
        arguments: [
            ([], "http://h/b", true, true), ([], "http://other/b", false, false), ([], "https://h/b", false, true),
            ([], "http://h:81/b", false, true), ([], "http://H/b", true, true), ([], "http://h:80/b", true, true),
            (["--location-trusted"], "http://other/b", true, false),
        ])
    func trust(_ words: [String], _ location: String, _ isTrusted: Bool, _ isFirstHost: Bool) throws {
        let hops = try Self.hops(["-L"] + words + ["http://h/a"], [(302, location)])
        #expect(hops.last?.isTrusted == isTrusted && hops.last?.isFirstHost == isFirstHost)
    }

    @Test func trustComesBackWithTheOrigin() throws {
        let hops = try Self.hops(["-L", "-u", "u:p", "http://h/"], [(302, "http://other/"), (302, "http://h/")])
        #expect(hops.map(\.sendsLogin) == [true, false, true])
        #expect(hops.map(\.login.basic) == ["Basic dTpw", "Basic dTpw", "Basic dTpw"])
    }

    @Test func aLoginIsForgottenWithThePort() throws {
        let hops = try Self.hops(["-L", "-u", "u:p", "http://h/"], [(302, "http://h:81/"), (302, "http://h/")])
        #expect(hops.map(\.login.user) == ["u", nil, nil])
        let trusted = try Self.hops(["--location-trusted", "-u", "u:p", "http://h/"], [(302, "https://o:81/")])
        #expect(trusted.last?.login.user == "u" && trusted.last?.isTrusted == true)
    }

    @Test func aLocationMayHaveALogin() throws {
        let hops = try Self.hops(["-L", "http://h/"], [(302, "http://us:pw@h/b"), (302, "/c")])
        #expect(hops.map(\.login.basic) == [nil, "Basic dXM6cHc=", "Basic dXM6cHc="])
    }

    @Test func loginsOfANetrcFileAreThoseOfTheHost() throws {
        let folder = try TemporaryFolder(["n": Array("machine h login a password b\nmachine o login c password d".utf8)]
        )
        let hops = try Self.hops(
            ["-L", "--netrc-file", "\(folder.path)/n", "http://h/"], [(302, "http://o/"), (302, "http://x/")])
        #expect(hops.map(\.login.basic) == ["Basic YTpi", "Basic Yzpk", "Basic Yzpk"])
        #expect(hops.map(\.sendsLogin) == [true, true, false])
    }

    @Test func referers() throws {
        let stays = try Self.hops(["-L", "-e", "r", "http://h/a"], [(302, "/b"), (302, "/c")])
        #expect(stays.map(\.referer) == ["r", "r", "r"])
        let follows = try Self.hops(["-L", "-e", "r;auto", "http://us:pw@h/a#f"], [(302, "/b"), (302, "/c")])
        #expect(follows.map(\.referer) == ["r", "http://h/a", "http://h/b"])
    }
}
