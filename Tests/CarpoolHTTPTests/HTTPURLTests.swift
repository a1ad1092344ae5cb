import Testing

@testable import CarpoolHTTP

struct HTTPURLTests {
    @Test(arguments: [
        ("http://Example.COM", "http://example.com:80"), ("https://example.com/a?b", "https://example.com:443"),
        ("HTTP://127.0.0.1:8080/x", "http://127.0.0.1:8080"), ("https://[::1]:444/", "https://[::1]:444"),
    ]) func findsTheOrigin(text: String, origin: String) throws {
        #expect(try HTTPURL(text).origin.description == origin)
    }

    @Test(arguments: [
        ("ftp://example.com/", "unsupported_url"), ("file:///etc/passwd", "unsupported_url"),
        ("gopher://x/", "unsupported_url"), ("/relative", "bad_url"), ("", "bad_url"), ("http://", "bad_url"),
        ("http://a b/", "bad_url"), ("http://a/\r\nX: y", "bad_url"), ("http://a/\u{7F}", "bad_url"),
        ("http://[zz/", "bad_url"), ("http://a:99999/", "bad_url"), ("example.com", "bad_url"),
    ]) func refuses(text: String, code: String) {
        let error = #expect(throws: TransportError.self) { try HTTPURL(text) }
        #expect(error?.code.rawValue == code)
    }

    @Test func refusesWhatIsTooLong() {
        #expect(throws: TransportError.self) { try HTTPURL("http://a/" + String(repeating: "x", count: 65_536)) }
    }

    @Test func takesUserInformationOut() throws {
        let url = try HTTPURL("https://us%40er:p%3Aw@example.com/path")
        #expect(url.userInformation?.user == "us@er")
        #expect(url.userInformation?.password == "p:w")
        #expect(url.description == "https://example.com/path")
        #expect(try HTTPURL("https://example.com/a@b").userInformation == nil)
    }

    @Test(arguments: [
        ("/x", "http://h:81/x"), ("y", "http://h:81/a/y"), ("../z", "http://h:81/z"), ("?q=1", "http://h:81/a/b?q=1"),
        ("//other/p", "http://other/p"), ("https://o/", "https://o/"),
    ]) func resolvesReferences(reference: String, result: String) throws {
        let base = try HTTPURL("http://h:81/a/b?c")
        #expect(try base.resolving(reference).description == result)
    }

    @Test func aReferenceToAnotherSchemeIsRefused() throws {
        let base = try HTTPURL("http://h/")
        #expect(throws: TransportError.self) { try base.resolving("file:///etc/passwd") }
        #expect(throws: TransportError.self) { try base.resolving("javascript:alert(1)") }
    }

    @Test("PE-05: what is added follows the query that is there, and the fragment follows both")
    func appendsToTheQuery() throws {
        let cases = [
            ("http://h/p", "http://h/p?x%5B%5D=1"), ("http://h/p?", "http://h/p?x%5B%5D=1"),
            ("http://h", "http://h?x%5B%5D=1"), ("http://h/p?a=b", "http://h/p?a=b&x%5B%5D=1"),
            ("http://h/p#f?g", "http://h/p?x%5B%5D=1#f?g"),
            ("http://h/p?a%2fb=%C3#f", "http://h/p?a%2fb=%C3&x%5B%5D=1#f"),
        ]
        for (text, result) in cases {
            #expect(try HTTPURL(text).appendingQuery("x%5B%5D=1").description == result)
        }
        let secret = try HTTPURL("http://us%40er:pw@h/p").appendingQuery("a=1")
        #expect(secret.description == "http://h/p?a=1")
        #expect(secret.userInformation?.user == "us@er")
        #expect(secret.origin.description == "http://h:80")
    }

    @Test func refusesWhatIsNoQuery() throws {
        let url = try HTTPURL("http://h/")
        for addition in ["a#b", "a b", "a\r\nb", String(repeating: "x", count: 65_536)] {
            #expect(throws: TransportError.self) { try url.appendingQuery(addition) }
        }
    }
}
