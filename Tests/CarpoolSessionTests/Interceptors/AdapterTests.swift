import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct AdapterTests {
    private func adapt(_ adapter: some RequestAdapter, _ url: String, _ fields: [(String, String)] = []) throws
        -> TransportRequest
    {
        let stage = try Stage()
        let request = stage.request(RequestParameters(url: url))
        var urlRequest = TransportRequest(method: .get, url: try HTTPURL(url))
        urlRequest.fields = try fields.map { try HTTPField(name: $0.0, value: $0.1) }
        var result: Result<TransportRequest, SessionError>?
        adapter.adapt(urlRequest, for: request) { result = $0 }
        return try #require(result).get()
    }

    @Test("A header is replaced in place, appended, or set only if there is none")
    func setHeader() throws {
        let old = [("x-A", "1"), ("B", "2"), ("X-a", "3")]
        func fields(_ mode: SetHeaderAdapter.Mode, _ name: String) throws -> [String] {
            let adapter = SetHeaderAdapter(try HTTPField(name: name, value: "new"), mode: mode)
            return try adapt(adapter, "http://a.test/", old).fields.map { "\($0.name)=\($0.value)" }
        }
        #expect(try fields(.replace, "X-A") == ["X-A=new", "B=2"])
        #expect(try fields(.append, "X-A") == ["x-A=1", "B=2", "X-a=3", "X-A=new"])
        #expect(try fields(.ifAbsent, "X-A") == ["x-A=1", "B=2", "X-a=3"])
        for mode in [SetHeaderAdapter.Mode.replace, .append, .ifAbsent] {
            #expect(try fields(mode, "C").last == "C=new")
        }
    }

    @Test("HH-04: user and password in base64 of their UTF-8; ambiguous ones are refused")
    func basic() throws {
        let adapter = try #require(SetHeaderAdapter.basic(user: "user", password: "password"))
        let fields = try adapt(adapter, "http://a.test/", [("authorization", "old")]).fields
        #expect(fields.map { "\($0.name): \($0.value)" } == ["Authorization: Basic dXNlcjpwYXNzd29yZA=="])
        let accented = try #require(SetHeaderAdapter.basic(user: "\u{e9}", password: ":\u{20ac}"))
        #expect(try adapt(accented, "http://a.test/").fields.map(\.value) == ["Basic w6k6OuKCrA=="])
        #expect(SetHeaderAdapter.basic(user: "a:b", password: "c") == nil)
        #expect(SetHeaderAdapter.basic(user: "a", password: "c\n") == nil)
    }

    @Test("RFC 6750: a bearer token is one word")
    func bearer() throws {
        let adapter = try #require(SetHeaderAdapter.bearer(token: "abc.def-_~+/="))
        #expect(try adapt(adapter, "http://a.test/").fields.map(\.value) == ["Bearer abc.def-_~+/="])
        for token in ["", "a b", "a\r\nX: y", "\u{7f}"] { #expect(SetHeaderAdapter.bearer(token: token) == nil) }
    }

    @Test(
        "Parts of a URL are replaced, the others stay",
        arguments: [
            ("scheme=https", "http://a.test/p?q=1#f", "https://a.test/p?q=1#f"),
            ("scheme=http", "https://a.test:8443/p", "http://a.test/p"),
            ("scheme=https port=8443", "http://a.test:80/", "https://a.test:8443/"),
            ("host=b.test", "http://a.test:8080/p", "http://b.test:8080/p"),
            ("host=[::1] port=81", "http://a.test/", "http://[::1]:81/"),
            ("port=80", "http://a.test:81/", "http://a.test/"),
            ("prefix=/v2", "http://a.test/p?q", "http://a.test/v2/p?q"),
            ("prefix=/v2/", "http://a.test", "http://a.test/v2/"),
            ("prefix=v2", "http://a.test/", "http://a.test/v2/"), ("prefix=/", "http://a.test/p", "http://a.test/p"),
            ("a=1", "http://a.test/", "http://a.test/?a=1"),
            ("a=1", "http://a.test/?b&a=2&c=3&a", "http://a.test/?b&c=3&a=1"),
            ("a&b=c d=e", "http://a.test/?x=y#f", "http://a.test/?x=y&a%26b=c%20d%3De#f"),
            ("", "http://a.test/?a=b#c", "http://a.test/?a=b#c"),
        ])
    func rewrite(_ change: String, _ url: String, _ expected: String) throws {
        var parts = RewriteAdapter.Parts()
        for word in change.contains("&") ? [Substring(change)] : change.split(separator: " ") {
            let name = word.prefix { $0 != "=" }
            let value = String(word.dropFirst(name.count + 1))
            switch name {
            case "scheme": parts.scheme = value
            case "host": parts.host = value
            case "port": parts.port = UInt16(value)
            case "prefix": parts.pathPrefix = value
            default: parts.query.append((String(name), value))
            }
        }
        #expect(try adapt(RewriteAdapter(parts), url).url.description == expected)
    }

    @Test("The result may be an invalid URL")
    func badRewrite() throws {
        var parts = RewriteAdapter.Parts()
        parts.host = "a b"
        let error = try #require(throws: SessionError.self) { try adapt(RewriteAdapter(parts), "http://a.test/") }
        #expect(error.name == "invalid_url")
    }
}
