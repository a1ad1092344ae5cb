import Testing

@testable import CarpoolHTTP

struct HTTPURLTests {
    @Test func aZoneHasUnreservedCharacters() throws {
        #expect(try HTTPURL("http://[fe80::1%25eth0]/").origin.host.hasPrefix("[fe80::1"))
        #expect(throws: TransportError.self) { try HTTPURL("http://[fe80::1%25et\u{FFFD}0]/") }
        #expect(throws: TransportError.self) { try HTTPURL("https://user:p%@[::%@[::1]:8443/") }
    }

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
        for user in ["us%10er", "us%00er:p", ":p%0aw", "a:%1f"] {
            #expect(throws: TransportError.self) { try HTTPURL("https://\(user)@example.com/") }
        }
    }

    @Test(arguments: [
        ("/x", "http://h:81/x"), ("y", "http://h:81/a/y"), ("../z", "http://h:81/z"), ("?q=1", "http://h:81/a/b?q=1"),
        ("//other/p", "http://other/p"), ("https://o/", "https://o/"),
        ("", "http://h:81/a/b?c"), ("#x", "http://h:81/a/b?c#x"),
    ]) func resolvesReferences(reference: String, result: String) throws {
        let base = try HTTPURL("http://h:81/a/b?c")
        #expect(try base.resolving(reference).description == result)
    }

    /// The older library refuses a reference with a colon in its first segment.
    @Test(.enabled(if: CurlLibrary.profile == .multiplex)) func aSchemeBeginsWithALetter() throws {
        #expect(try HTTPURL("http://h:81/a/b?c").resolving("8a:]/x").description == "http://h:81/a/8a:%5D/x")
    }

    @Test func aReferenceToAnotherSchemeIsRefused() throws {
        let base = try HTTPURL("http://h/")
        #expect(throws: TransportError.self) { try base.resolving("file:///etc/passwd") }
        #expect(throws: TransportError.self) { try base.resolving("javascript:alert(1)") }
    }

    @Test("PE-05: parameters are appended to an existing query, and the fragment follows both")
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

    @Test("F5: characters that a URL must not hold are percent-encoded once, in every part")
    func f5PercentEncoding() throws {
        let cases = [
            ("http://h/[1]?a={b}#<c>", "http://h/%5B1%5D?a=%7Bb%7D#%3Cc%3E"), ("http://h?a b", "http://h?a%20b"),
            ("http://h#a#b", "http://h#a%23b"), ("http://h/é%C3%A9%zz%", "http://h/%C3%A9%C3%A9%25zz%25"),
            ("http://[::1]:80/[", "http://[::1]:80/%5B"), ("HTTP://H/A%2f", "HTTP://H/A%2f"),
            ("http:/h/[", "http:/h/%5B"), ("http:///h/[", "http:///h/%5B"),
        ]
        for (text, result) in cases {
            let url = try HTTPURL(text)
            #expect(url.description == result)
            #expect(try HTTPURL(result).description == result)
        }
        #expect(try HTTPURL("http://h/[|?]", encoding: .asIs).description == "http://h/[|?]")
        #expect(throws: TransportError.self) { try HTTPURL("http://h/a b", encoding: .asIs) }
    }

    @Test(
        "F5: a reference is encoded before it is resolved",
        arguments: [
            ("[x]", "http://h:81/a/%5Bx%5D"), ("?q=a b", "http://h:81/a/b?q=a%20b"),
            ("\\\\evil/x", "http://h:81/a/%5C%5Cevil/x"),
            ("/\\evil/x", "http://h:81/%5Cevil/x"), ("#a b", "http://h:81/a/b?c#a%20b"), ("//o/é", "http://o/%C3%A9"),
            ("HTTPS://o/|", "https://o/%7C"),
        ])
    func f5References(reference: String, result: String) throws {
        #expect(try HTTPURL("http://h:81/a/b?c").resolving(reference).description == result)
    }

    @Test(
        "F5: a backslash before the path is refused",
        arguments: [
            "http://a\\@b/", "http://a@b\\c/", "http:\\\\a/", "http:/\\a/", "https://a\\b", "http://a\\?x",
        ])
    func f5Backslashes(text: String) {
        #expect(throws: TransportError.self) { try HTTPURL(text) }
        #expect(throws: TransportError.self) { try HTTPURL(text, encoding: .asIs) }
    }

    @Test("F17: hosts beyond ASCII become A-labels, in any locale")
    func f17ALabels() throws {
        for host in ["bücher.test", "BÜCHER.test", "b%C3%BCcher.test"] {
            let url = try HTTPURL("http://me:pw@\(host):81/ü")
            #expect(url.origin.description == "http://xn--bcher-kva.test:81")
            #expect(url.description == "http://xn--bcher-kva.test:81/%C3%BC")
        }
        for host in ["a\u{2100}b.test", "a\u{FF0F}b.test", "a\u{FF20}b.test", "\u{202E}.test", "\u{AD}"] {
            #expect(throws: TransportError.self) { try HTTPURL("http://\(host)/") }
        }
    }

    @Test("The zone of an IPv6 address is part of the origin, since another zone is another machine")
    func zones() throws {
        let first = try HTTPURL("http://[fe80::1%25d0]:8080/a").origin
        #expect(first.host == "[fe80::1]" && first.zone == "d0" && first.bareHost == "fe80::1")
        #expect(first.description == "http://[fe80::1%25d0]:8080")
        #expect(try first == HTTPURL("http://[FE80::1%25d0]:8080/b").origin)
        #expect(try first != HTTPURL("http://[fe80::1%25d1]:8080/a").origin)
        #expect(try first != HTTPURL("http://[fe80::1]:8080/a").origin)
        #expect(throws: HostAddresses.Refusal.self) { try HostReplacement("::[fe80::1%25d0]:") }
    }
}
