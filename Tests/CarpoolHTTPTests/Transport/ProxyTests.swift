@testable import CarpoolHTTP
import Testing

struct ProxyTests {
    @Test(
        "The address of a proxy is read as curl reads it",
        arguments: [
            ("proxy", "http://proxy:1080"), ("proxy:3128", "http://proxy:3128"),
            ("http://PROXY:3128/", "http://proxy:3128"),
            ("https://proxy", "https://proxy:443"), ("socks5h://[::1]:9", "socks5h://[::1]:9"),
            ("SOCKS4://a", "socks4://a:1080"), ("socks://a", "socks4://a:1080"),
            ("socks4a://10.1", "socks4a://10.0.0.1:1080"),
            ("user:pw@proxy:1", "http://proxy:1"), ("socks5://münchen.de", "socks5://xn--mnchen-3ya.de:1080"),
        ])
    func addresses(_ text: String, _ expected: String) throws {
        let address = try Proxy.Address(text)
        #expect(Proxy(kind: address.kind, host: address.host, port: address.port).description == expected)
    }

    @Test("User and password are percent-decoded, and are not in the description")
    func credentials() throws {
        let address = try Proxy.Address("http://DOMAIN%5Cada:p%40ss%3Aw%C3%A9@proxy:3128")
        #expect(address.credential == Proxy.Credential(user: "DOMAIN\\ada", password: "p@ss:wé"))
        #expect(try Proxy.Address("ada@proxy").credential == Proxy.Credential(user: "ada", password: ""))
        #expect(try Proxy.Address("proxy").credential == nil)
        #expect(throws: Proxy.Refusal.self) { try Proxy.Address("http://a%3Ab:c@proxy") }
        #expect(try Proxy.Address("socks5://a%3Ab:c@proxy").credential?.user == "a:b")
        let proxy = Proxy(
            kind: address.kind, host: address.host, port: address.port, credential: address.credential)
        #expect(proxy.description == "http://proxy:3128")
    }

    @Test(
        "What is no proxy is refused, without its password in the message",
        arguments: [
            "", " ", "ftp://a", "://a", "http://", "http://secret@", "a b", "http://a/path", "http://a?q", "http://a#f",
            "http://a:secret%0a@b", "http://a:99999", "http://[fe80::1%25eth0]", "http://\u{1}",
            "http://a\\b:secret@c/d",
        ])
    func refusals(_ text: String) {
        #expect {
            try Proxy.Address(text)
        } throws: { error in
            !"\(error)".contains("secret")
        }
    }

    @Test("Only requests that an HTTP proxy gets as they are share its connections")
    func sharing() throws {
        let (http, https) = (try HTTPURL("http://a/").origin, try HTTPURL("https://a/").origin)
        let proxy = Proxy(kind: .http, host: "p", port: 1)
        #expect(proxy.sharedOrigin(for: http) == Origin(scheme: "http", host: "p", port: 1))
        #expect(proxy.sharedOrigin(for: https) == nil)
        #expect(Proxy(kind: .socks5, host: "p", port: 1).sharedOrigin(for: http) == nil)
        #expect(Proxy(kind: .http, host: "p", port: 1, tunnelsEverything: true).sharedOrigin(for: http) == nil)
    }

    @Test("The settings of an http URL keep its proxy, and for an HTTPS proxy the authorities")
    func partitions() {
        var values = ConnectionSettings.Values()
        values.trust = ServerTrust(evaluator: .disabled)
        values.proxy = Proxy(kind: .https, host: "p", port: 1)
        let plain = ConnectionSettings.make(values)?.withoutTLS
        #expect(plain?.values.proxy == values.proxy && plain?.values.trust == .system)
        #expect(plain?.values.differences == ["proxy"])
    }
}
