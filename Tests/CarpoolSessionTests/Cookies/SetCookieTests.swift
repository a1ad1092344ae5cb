@testable import CarpoolHTTP
@testable import CarpoolSession
import Testing

/// One field, the URL of its response, and the cookie that it sets.
struct SetCookieCase: CustomTestStringConvertible {
    let field: String
    let url: String
    /// `name=value; domain path flags`, or `nil` for no cookie. Flags: h host only, s secure, H HttpOnly.
    let expected: String?

    init(_ field: String, _ url: String, _ expected: String?) {
        self.field = field
        self.url = url
        self.expected = expected
    }

    init(_ field: String, _ expected: String?) { self.init(field, "https://www.example.com/a/b", expected) }

    var testDescription: String { "\(field.prefix(60)) from \(url)" }
}

struct SetCookieTests {
    private static let now: Int64 = 1_700_000_000

    static func shown(_ cookie: Cookie) -> String {
        let flags = (cookie.isHostOnly ? "h" : "") + (cookie.isSecure ? "s" : "") + (cookie.isHTTPOnly ? "H" : "")
        return "\(cookie.name)=\(cookie.value); \(cookie.domain) \(cookie.path) \(flags)"
    }

    static let pairs = [
        SetCookieCase("a=b", "a=b; www.example.com /a h"),
        SetCookieCase("a=b; c", "a=b; www.example.com /a h"),
        SetCookieCase("  a  =  b  ", "a=b; www.example.com /a h"),
        SetCookieCase("a=b=c", "a=b=c; www.example.com /a h"),
        SetCookieCase("a=\"b c\"", "a=\"b c\"; www.example.com /a h"),
        SetCookieCase("a=", "a=; www.example.com /a h"),
        SetCookieCase("a", "=a; www.example.com /a h"),
        SetCookieCase("=a", "=a; www.example.com /a h"),
        SetCookieCase("=", nil),
        SetCookieCase("=a=b", nil),
        SetCookieCase("", nil),
        SetCookieCase("; Secure", nil),
        SetCookieCase("a=b\u{1}", nil),
        SetCookieCase("a=b\u{7F}", nil),
        SetCookieCase("a=b\tc", nil),
        SetCookieCase("a\tb=c", nil),
        SetCookieCase("\u{E4}=\u{F6}", "\u{E4}=\u{F6}; www.example.com /a h"),
        SetCookieCase(
            "a=" + String(repeating: "x", count: 4_095),
            "a=" + String(repeating: "x", count: 4_095) + "; www.example.com /a h"),
        SetCookieCase("a=" + String(repeating: "x", count: 4_096), nil),
    ]

    static let domains = [
        SetCookieCase("a=b; Domain=example.com", "a=b; example.com /a "),
        SetCookieCase("a=b; Domain=.Example.COM", "a=b; example.com /a "),
        SetCookieCase("a=b; Domain=www.example.com", "a=b; www.example.com /a "),
        SetCookieCase("a=b; Domain=", "a=b; www.example.com /a h"),
        SetCookieCase("a=b; Domain=other.com", nil),
        SetCookieCase("a=b; Domain=x.www.example.com", nil),
        SetCookieCase("a=b; Domain=ample.com", nil),
        SetCookieCase("a=b; Domain=com", nil),
        SetCookieCase("a=b; Domain=co.uk", "https://example.co.uk/", nil),
        SetCookieCase("a=b; Domain=github.io", "https://me.github.io/", nil),
        SetCookieCase("a=b; Domain=github.io", "https://github.io/", "a=b; github.io / h"),
        SetCookieCase("a=b; Domain=other.com; Domain=example.com", "a=b; example.com /a "),
        SetCookieCase("a=b; Domain=example.com; Domain=other.com", nil),
        SetCookieCase("a=b; Domain=1.2.3.4", "https://1.2.3.4/", "a=b; 1.2.3.4 / h"),
        SetCookieCase("a=b; Domain=2.3.4", "https://1.2.3.4/", nil),
        SetCookieCase("a=b; Domain=localhost", "http://localhost/", "a=b; localhost / h"),
        SetCookieCase("a=b", "https://www.example.com./", "a=b; www.example.com / h"),
        SetCookieCase("a=b; Domain=\u{E4}.com", "https://\u{E4}.com/", nil),
    ]

    static let paths = [
        SetCookieCase("a=b; Path=/", "a=b; www.example.com / h"),
        SetCookieCase("a=b; Path=/x", "a=b; www.example.com /x h"),
        SetCookieCase("a=b; Path=/x\ty", nil),
        SetCookieCase("a=b", "https://h.test/" + String(repeating: "x", count: 1_024) + "/y", nil),
        SetCookieCase("a=b; Path=x", "a=b; www.example.com /a h"),
        SetCookieCase("a=b; Path=", "a=b; www.example.com /a h"),
        SetCookieCase("a=b; Path=/x; Path=/y", "a=b; www.example.com /y h"),
        SetCookieCase("a=b", "https://www.example.com/a/", "a=b; www.example.com /a h"),
        SetCookieCase("a=b", "https://www.example.com/a", "a=b; www.example.com / h"),
        SetCookieCase("a=b", "https://www.example.com", "a=b; www.example.com / h"),
        SetCookieCase("a=b", "https://www.example.com/a/b?c=/d/e", "a=b; www.example.com /a h"),
        SetCookieCase("a=b", "https://www.example.com?c=/d/e", "a=b; www.example.com / h"),
        SetCookieCase("a=b", "https://www.example.com:8443/a/b/#/c/d", "a=b; www.example.com /a/b h"),
        SetCookieCase("a=b", "https://[::1]:8443/a/b", "a=b; [::1] /a h"),
        SetCookieCase("a=b; Path=/" + String(repeating: "x", count: 1_024), "a=b; www.example.com /a h"),
    ]

    static let flags = [
        SetCookieCase("a=b; secure; HTTPONLY", "a=b; www.example.com /a hsH"),
        SetCookieCase("a=b; Secure=no", "a=b; www.example.com /a hs"),
        SetCookieCase("a=b; Secure", "http://www.example.com/", nil),
        SetCookieCase("a=b; Secure", "http://localhost/", "a=b; localhost / hs"),
        SetCookieCase("a=b; Secure", "http://127.0.0.1/", "a=b; 127.0.0.1 / hs"),
        SetCookieCase("__Secure-a=b; Secure", "__Secure-a=b; www.example.com /a hs"),
        SetCookieCase("__Secure-a=b", nil),
        SetCookieCase("__SECURE-a=b", nil),
        SetCookieCase("__Host-a=b; Secure; Path=/", "__Host-a=b; www.example.com / hs"),
        SetCookieCase("__Host-a=b; Secure", "https://www.example.com/", nil),
        SetCookieCase("__Host-a=b; Secure; Path=/; Domain=example.com", nil),
        SetCookieCase("__Host-a=b; Path=/", nil),
        SetCookieCase("=__Host-a=b; Secure; Path=/", nil),
        SetCookieCase("__Secure-", nil),
    ]

    @Test("A field sets a cookie, or is ignored", arguments: pairs + domains + paths + flags)
    func sets(_ test: SetCookieCase) throws {
        let cookie = SetCookie(test.field.utf8, at: SetCookieTests.now)?.cookie(
            from: CookieTarget(try HTTPURL(test.url)))
        #expect(cookie.map(SetCookieTests.shown) == test.expected)
    }

    @Test("Bytes that are not UTF-8 set no cookie")
    func notUTF8() { #expect(SetCookie([0x61, 0x3D, 0xFF], at: 0) == nil) }

    @Test(
        "Max-Age takes precedence over Expires; neither is longer than 400 days",
        arguments: [
            ("", nil), ("Max-Age=60", 60), ("Max-Age=0", -1), ("Max-Age=-5", -1), ("Max-Age=abc", nil),
            ("Max-Age=+5", nil), ("Max-Age=60; Max-Age=90", 90), ("Max-Age=99999999999999999999", 34_560_000),
            ("Expires=Tue, 14 Nov 2023 22:13:30 GMT", 10), ("Expires=Tue, 14 Nov 2023 22:13:30 GMT; Max-Age=60", 60),
            ("Max-Age=60; Expires=Tue, 14 Nov 2023 22:13:30 GMT", 60), ("Expires=never", nil),
            ("Expires=Fri, 01 Jan 2100 00:00:00 GMT", 34_560_000), ("Expires=Thu, 01 Jan 1970 00:00:00 GMT", -1),
        ] as [(String, Int64?)])
    func lifetime(_ attributes: String, _ seconds: Int64?) throws {
        let cookie = try #require(SetCookie("a=b; \(attributes)".utf8, at: SetCookieTests.now))
        guard let seconds, seconds >= 0 else {
            return #expect(
                seconds == nil ? cookie.expires == nil : cookie.expires.map { $0 <= SetCookieTests.now } == true)
        }
        #expect(cookie.expires == SetCookieTests.now + seconds)
    }

    @Test("SameSite is stored, in upper or lower case", arguments: ["strict", "LAX", "None"])
    func sameSite(_ value: String) {
        let found = SetCookie("a=b; SameSite=\(value)".utf8, at: 0)?.sameSite
        #expect(found?.rawValue.lowercased() == value.lowercased())
    }
}

struct CookieDateTests {
    @Test(
        "Dates of RFC 6265, section 5.1.1",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("08:49:37 6 november 94", 784_111_777),
            ("1994 6 nov 8:49:37pm", 784_111_777), ("6th Nov 1994 08:49:37", 784_111_777),
            ("Thu, 01 Jan 70 00:00:00", 0), ("01 Jan 69 00:00:00", 3_124_224_000),
            ("29 Feb 2024 00:00:00", 1_709_164_800), ("29 Feb 2023 00:00:00", nil), ("31 Apr 2023 00:00:00", nil),
            ("32 Jan 2023 00:00:00", nil), ("01 Jan 1600 00:00:00", nil), ("01 Jan 2023 24:00:00", nil),
            ("01 Jan 2023 00:60:00", nil), ("01 Jan 2023", nil), ("Jan 2023 00:00:00", nil), ("", nil),
            ("01 Jan 20233 00:00:00", nil), ("01 Jan 2023 00:00", nil), ("001 Jan 2023 00:00:00", nil),
        ] as [(String, Int64?)])
    func dates(_ text: String, _ seconds: Int64?) {
        #expect(CookieDate.seconds(Array(text.utf8)[...]) == seconds)
    }
}
