import CarpoolHTTP
import CarpoolSession
import Testing

struct ProxyExceptionsTests {
    private func contains(_ entries: [String], _ url: String) throws -> Bool {
        var exceptions = ProxyExceptions()
        for entry in entries { try exceptions.add(entry) }
        return exceptions.contains(try HTTPURL(url).origin)
    }

    @Test(
        "A host is exempt by curl's rules",
        arguments: [
            ("example.com", "http://example.com/", true), ("example.com", "http://EXAMPLE.com./", true),
            ("example.com", "http://www.example.com/", true), (".example.com", "http://example.com/", true),
            (".example.com", "http://a.b.example.com/", true), ("example.com.", "http://example.com/", true),
            ("EXAMPLE.COM", "http://example.com/", true), ("example.com", "http://badexample.com/", false),
            ("www.example.com", "http://example.com/", false), ("com", "http://example.com/", true),
            ("xn--mnchen-3ya.de", "http://münchen.de/", true), ("münchen.de", "http://www.xn--mnchen-3ya.de/", true),
            ("*", "http://anything/", true), ("*", "http://10.0.0.1/", true),
            ("10.0.0.1", "http://10.0.0.1/", true), ("10.0.0.1", "http://10.0.0.10/", false),
            ("0.0.1", "http://10.0.0.1/", false), ("10.0.0.0/8", "http://10.200.3.4/", true),
            ("10.0.0.0/8", "http://11.0.0.1/", false), ("192.168.0.0/22", "http://192.168.3.255/", true),
            ("192.168.0.0/22", "http://192.168.4.0/", false), ("0.0.0.0/0", "http://8.8.8.8/", true),
            ("0.0.0.0/0", "http://example.com/", false), ("10.0.0.1/32", "http://10.0.0.1/", true),
            ("127.0.0.1", "http://127.1/", true),
            ("127.1", "http://127.0.0.1/", true), ("0x7f.1", "http://127.0.0.1/", true),
            ("a-b.test", "http://x.A-B.test/", true), ("a..b", "http://a..b/", true), ("::1", "http://[::1]/", true),
            ("[::1]", "http://[0:0::1]/", true),
            ("fe80::/10", "http://[febf::1]/", true), ("fe80::/10", "http://[fec0::1]/", false),
            ("fe80::/10", "http://10.0.0.1/", false), ("0.0.0.0/0", "http://[::ffff:10.0.0.1]/", false),
            ("example.com:8080", "http://example.com:8080/", true), ("example.com:8080", "http://example.com/", false),
            ("example.com:443", "https://www.example.com/", true), ("10.0.0.1:80", "http://10.0.0.1/", true),
            ("10.0.0.1:81", "http://10.0.0.1/", false), ("[::1]:81", "http://[::1]:81/", true),
        ])
    func rules(_ entry: String, _ url: String, _ isExempt: Bool) throws {
        #expect(try contains([entry], url) == isExempt)
        #expect(try contains(["other.test", "172.16.0.0/12", entry], url) == isExempt)
    }

    @Test(
        "What is no host is refused",
        arguments: [
            "", ".", "*.example.com", "a b", "a/b", "10.0.0.0/33", "::/129", "a:0", "a:x", "a:99999", "http://a",
        ])
    func refusals(_ entry: String) {
        #expect(throws: HostPattern.Refusal.self) { try contains([entry], "http://a/") }
    }

    @Test(
        "In the text of the variable, what is no host has no effect",
        arguments: [
            ("a.test,b.test", true), ("a.test b.test", true), (" ,, b.test\t", true), ("*.b.test,b.test", true),
            ("a b c/d 10.0.0.0/99", false), ("a.test,*", false), ("*", true), ("", false),
        ])
    func variables(_ text: String, _ isExempt: Bool) throws {
        #expect(ProxyExceptions(variable: text)?.contains(try HTTPURL("http://b.test/").origin) == isExempt)
        #expect(ProxyExceptions(variable: text + String(repeating: " a", count: 257)) == nil)
    }

    @Test("Each scheme has its proxy, and exceptions have none")
    func settings() throws {
        let (one, two) = (
            Proxy(kind: .http, host: "one", port: 1), Proxy(kind: .socks5h, host: "two", port: 2)
        )
        let settings = ProxySettings(
            http: one, https: two, exceptions: try #require(ProxyExceptions(variable: "b.test")))
        #expect(settings.proxy(for: try HTTPURL("http://a.test/").origin) == one)
        #expect(settings.proxy(for: try HTTPURL("https://a.test/").origin) == two)
        #expect(settings.proxy(for: try HTTPURL("https://b.test/").origin) == nil)
        #expect(settings.exempts(try HTTPURL("https://b.test/").origin))
        #expect(ProxySettings(http: one, https: nil).proxy(for: try HTTPURL("https://a.test/").origin) == nil)
    }
}
