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
}
