import Testing

@testable import CarpoolCurl

/// The expectations are what the real curl 8.14.1 printed for `%{url_effective}` and the parts `%{urle.scheme}` to
/// `%{urle.zoneid}`, or its message.
struct CurlURLTests {
    private static let rules: CurlURL.Rules = [.guessesScheme, .allowsAllSchemes]

    static let urls: [(String, String, String)] = [
        ("http://h", "http://h/", "http|||h|80|/|||"),
        ("HTTP://H/Path", "http://H/Path", "http|||H|80|/Path|||"),
        ("h", "http://h/", "http|||h|80|/|||"),
        ("h:8080/x", "http://h:8080/x", "http|||h|8080|/x|||"),
        ("localhost:8080", "http://localhost:8080/", "http|||localhost|8080|/|||"),
        ("ftp.example.com/x", "ftp://ftp.example.com/x", "ftp|||ftp.example.com|21|/x|||"),
        ("FTP.example.com", "ftp://FTP.example.com/", "ftp|||FTP.example.com|21|/|||"),
        ("imap.h", "imap://imap.h/", "imap|||imap.h|143|/|||"),
        ("h/a/../b/./c/..", "http://h/b/", "http|||h|80|/b/|||"),
        ("h/a/../../b", "http://h/b", "http|||h|80|/b|||"),
        ("http://h/..", "http://h/", "http|||h|80|/|||"),
        ("http://h/.", "http://h/", "http|||h|80|/|||"),
        ("http://h/%2e%2E/x/.%2e/y", "http://h/y", "http|||h|80|/y|||"),
        ("http://h/...", "http://h/...", "http|||h|80|/...|||"),
        ("http://h//a//../b", "http://h//a/b", "http|||h|80|//a/b|||"),
        ("http://u:p@h/", "http://u:p@h/", "http|u|p|h|80|/|||"),
        ("http://u@h", "http://u@h/", "http|u||h|80|/|||"),
        ("http://:p@h", "http://:p@h/", "http||p|h|80|/|||"),
        ("http://@h/", "http://@h/", "http|||h|80|/|||"),
        ("http://u%40:p%3a@h/", "http://u%40:p%3a@h/", "http|u%40|p%3a|h|80|/|||"),
        ("http://h:", "http://h/", "http|||h|80|/|||"),
        ("http://h:80/", "http://h:80/", "http|||h|80|/|||"),
        ("http://h:080", "http://h:80/", "http|||h|80|/|||"),
        ("http://h:65535", "http://h:65535/", "http|||h|65535|/|||"),
        ("http://h?q", "http://h/?q", "http|||h|80|/|q||"),
        ("http://h?", "http://h/", "http|||h|80|/|||"),
        ("http://h#f", "http://h/#f", "http|||h|80|/||f|"),
        ("http://h#", "http://h/", "http|||h|80|/|||"),
        ("http://h/?a=b#c?d", "http://h/?a=b#c?d", "http|||h|80|/|a=b|c?d|"),
        ("http://h/a#b#c", "http://h/a#b#c", "http|||h|80|/a||b#c|"),
        ("http://127.1", "http://127.0.0.1/", "http|||127.0.0.1|80|/|||"),
        ("http://0x7f.1", "http://127.0.0.1/", "http|||127.0.0.1|80|/|||"),
        ("http://017700000001", "http://127.0.0.1/", "http|||127.0.0.1|80|/|||"),
        ("http://2130706433/", "http://127.0.0.1/", "http|||127.0.0.1|80|/|||"),
        ("http://256.1", "http://256.1/", "http|||256.1|80|/|||"),
        ("http://1.2.3.4.5", "http://1.2.3.4.5/", "http|||1.2.3.4.5|80|/|||"),
        ("http://1.2.3.400", "http://1.2.3.400/", "http|||1.2.3.400|80|/|||"),
        ("http://0xg", "http://0xg/", "http|||0xg|80|/|||"),
        ("http://1.", "http://1./", "http|||1.|80|/|||"),
        ("http://127.0.0.1.", "http://127.0.0.1./", "http|||127.0.0.1.|80|/|||"),
        ("http://[::1]/", "http://[::1]/", "http|||[::1]|80|/|||"),
        ("http://[0:0:0:0:0:0:0:1]:81/x", "http://[::1]:81/x", "http|||[::1]|81|/x|||"),
        ("http://[fe80::1%25lo]/", "http://[fe80::1%25lo]/", "http|||[fe80::1]|80|/|||lo"),
        ("http://[fe80::1%lo]/", "http://[fe80::1%25lo]/", "http|||[fe80::1]|80|/|||lo"),
        ("http://[FE80::A]/", "http://[FE80::A]/", "http|||[FE80::A]|80|/|||"),
        ("http://[::ffff:1.2.3.4]/", "http://[::ffff:1.2.3.4]/", "http|||[::ffff:1.2.3.4]|80|/|||"),
        ("http:/h/x", "http://h/x", "http|||h|80|/x|||"),
        ("http:///h/x", "http://h/x", "http|||h|80|/x|||"),
        ("http://h%41/", "http://hA/", "http|||hA|80|/|||"),
        ("http://a_b/", "http://a_b/", "http|||a_b|80|/|||"),
        ("http://é/x", "http://é/x", "http|||é|80|/x|||"),
        ("http://h/é?é", "http://h/é?é", "http|||h|80|/é|é||"),
        ("foo://h/", "foo://h/", "foo|||h||/|||"),
        ("http+x://h", "http+x://h/", "http+x|||h||/|||"),
        ("file:///etc/x", "file:///etc/x", "file||||0|/etc/x|||"),
        ("file:/etc/x", "file:///etc/x", "file||||0|/etc/x|||"),
        ("file://localhost/etc", "file:///etc", "file||||0|/etc|||"),
        ("http://h/{a}", "http://h/{a}", "http|||h|80|/{a}|||"),
        ("http://h/a;b=c", "http://h/a;b=c", "http|||h|80|/a;b=c|||"),
        ("https://h:443/", "https://h:443/", "https|||h|443|/|||"),
        ("HtTpS://u:p@H:1/?", "https://u:p@H:1/", "https|u|p|H|1|/|||"),
        ("http://h/?x#", "http://h/?x", "http|||h|80|/|x||"),
        ("h?x", "http://h/?x", "http|||h|80|/|x||"),
        ("h#y", "http://h/#y", "http|||h|80|/||y|"),
        ("h/ü", "http://h/ü", "http|||h|80|/ü|||"),
    ]

    @Test(arguments: urls)
    func parts(_ text: String, _ expected: String, _ parts: String) throws {
        let url = try CurlURL(text, CurlURLTests.rules)
        #expect(url.text == expected)
        let found: [String?] = [
            url.scheme, url.user, url.password, url.host, url.effectivePort.map(String.init), url.pathOrRoot, url.query,
            url.fragment, url.zone,
        ]
        #expect(found.map { $0 ?? "" }.joined(separator: "|") == parts)
    }

    static let refused: [(String, String)] = [
        ("http://a@b@h/", "Bad hostname"),
        ("http://h:65536", "Port number was not a decimal number between 0 and 65535"),
        ("http://h:x", "Port number was not a decimal number between 0 and 65535"),
        ("h:", "Port number was not a decimal number between 0 and 65535"),
        ("http://[::1", "Bad IPv6 address"),
        ("http://[::1]x/", "Port number was not a decimal number between 0 and 65535"),
        ("http://[]/", "Bad IPv6 address"),
        ("http://[12]/", "Bad IPv6 address"),
        ("http:////h", "Unsupported number of slashes following scheme"),
        ("http:h", "Port number was not a decimal number between 0 and 65535"),
        ("http://", "No host part in the URL"),
        ("://h", "Port number was not a decimal number between 0 and 65535"),
        ("http://h h/", "Malformed input to a URL function"),
        ("http://h/a b", "Malformed input to a URL function"),
        ("http://h/\u{1}", "Malformed input to a URL function"),
        ("http://h\u{7F}/", "Malformed input to a URL function"),
        ("http://h%2f/", "Bad hostname"),
        ("http://h%00/", "Bad hostname"),
        ("http://a,b/", "Bad hostname"),
        ("http://a*b/", "Bad hostname"),
        ("file://h/etc", "Bad file:// URL"),
        ("file:", "Port number was not a decimal number between 0 and 65535"),
        ("1http://h/", "Port number was not a decimal number between 0 and 65535"),
        ("//h/x", "No host part in the URL"),
        ("/x", "No host part in the URL"),
    ]

    @Test(arguments: refused)
    func refuses(_ text: String, _ message: String) throws {
        let error = try #require(throws: CurlURLError.self) { _ = try CurlURL(text, CurlURLTests.rules) }
        #expect(error.rawValue == message)
        #expect(error.exitCode == 3)
    }

    @Test func schemesThatCurlDoesNotKnowAreRefusedByDefault() throws {
        let error = try #require(throws: CurlURLError.self) { _ = try CurlURL("foo://h/", .guessesScheme) }
        #expect(error == .unsupportedScheme && error.exitCode == 1)
        #expect(throws: CurlURLError.badScheme) { _ = try CurlURL("h/x") }
    }

    @Test func pathsStayAsTheyAre() throws {
        #expect(try CurlURL("http://h/a/../b", .keepsPath).text == "http://h/a/../b")
    }

    @Test(
        "A query is appended as --url-query does",
        arguments: [
            ("http://h", "a=b", "http://h/?a=b"), ("http://h/?", "a=b", "http://h/?a=b"),
            ("http://h/?x#f", "a=%2F%aB%z", "http://h/?x&a=%2f%ab%z#f"), ("http://h/?x&", "a", "http://h/?x&a"),
        ])
    func queries(_ text: String, _ query: String, _ expected: String) throws {
        var url = try CurlURL(text)
        url.append(query: query)
        #expect(url.text == expected)
    }

    @Test func sameOrigin() throws {
        let url = try CurlURL("http://Host/a")
        #expect(url.hasSameOrigin(as: try CurlURL("http://hOST:80/b")))
        #expect(!url.hasSameOrigin(as: try CurlURL("https://host:80/")))
        #expect(!url.hasSameOrigin(as: try CurlURL("http://host:81/")))
        #expect(!url.hasSameOrigin(as: try CurlURL("http://host2/")))
        #expect(try CurlURL("http://[::1]/").hostName == "::1")
    }
}
