import CarpoolSystem
import Testing

@testable import CarpoolCurl

/// The proxy of a URL. The expectations are what curl 8.14.1 does.
struct CurlProxyTests {
    private static func proxy(
        _ url: String, _ variables: [String: String] = [:], _ change: (inout CurlConnectionOptions) -> Void = { _ in }
    ) throws -> CurlProxy? {
        var options = CurlConnectionOptions()
        change(&options)
        return CurlProxy.of(try CurlURL(url, .guessesScheme), options, Environment(variables))
    }

    @Test(
        "Variables",
        arguments: [
            ("http://h", ["http_proxy": "p"], "http://p"), ("http://h", ["HTTP_PROXY": "p"], nil),
            ("https://h", ["https_proxy": "p"], "http://p"), ("https://h", ["HTTPS_PROXY": "p"], "http://p"),
            ("https://h", ["http_proxy": "p"], nil), ("http://h", ["ALL_PROXY": "socks5://p"], "socks5://p"),
            ("http://h", ["http_proxy": "p", "all_proxy": "q"], "http://p"),
            ("http://h", ["http_proxy": "p", "no_proxy": "h"], nil),
            ("http://h", ["http_proxy": "p", "NO_PROXY": "h"], nil),
            ("http://h", ["http_proxy": "p", "no_proxy": "x", "NO_PROXY": "h"], "http://p"),
        ] as [(String, [String: String], String?)])
    func variables(_ url: String, _ variables: [String: String], _ expected: String?) throws {
        #expect(try Self.proxy(url, variables)?.url == expected)
    }

    @Test func theOptionReplacesTheVariables() throws {
        let variables = ["http_proxy": "p", "no_proxy": "h"]
        #expect(try Self.proxy("http://h", variables) { $0.noProxy = "" }?.url == "http://p")
        #expect(try Self.proxy("http://x", variables) { $0.proxy = "" } == nil)
        #expect(try Self.proxy("http://x", variables) { $0.proxy = "q:1" }?.url == "http://q:1")
        #expect(try Self.proxy("http://x", variables) { $0.unixSocket = "/s" } == nil)
    }

    @Test func anHTTPProxyGetsTheRequestOrMakesATunnel() throws {
        let plain = try Self.proxy("http://h") { $0.proxy = "p" }
        #expect(plain?.getsRequest == true && plain?.isTunnel == false)
        let tunnel = try Self.proxy("http://h") { ($0.proxy, $0.tunnels) = ("p", true) }
        #expect(tunnel?.getsRequest == false && tunnel?.isTunnel == true)
        let secure = try Self.proxy("https://h") { $0.proxy = "p" }
        #expect(secure?.getsRequest == false && secure?.isTunnel == true)
        let socks = try Self.proxy("https://h") { ($0.proxy, $0.proxyScheme) = ("p", "socks5") }
        #expect(socks?.url == "socks5://p" && socks?.getsRequest == false && socks?.isTunnel == false)
    }

    @Test(
        "What is no URL is refused with the text that was given",
        arguments: [
            ("=", "5 Unsupported proxy syntax in '=': Bad hostname"),
            ("http://[::1", "5 Unsupported proxy syntax in 'http://[::1': Bad IPv6 address"),
            ("a b", "5 Unsupported proxy syntax in 'a b': Malformed input to a URL function"),
            ("http://u:p@", "5 Unsupported proxy syntax in 'http://u:p@': No host part in the URL"),
            ("foo://x", "7 Unsupported proxy scheme for 'foo://x'"), ("socks5h://u@[::1]:80", ""), ("h:80/path?q", ""),
        ])
    func refusals(_ text: String, _ expected: String) throws {
        let proxy = try #require(try Self.proxy("http://h") { $0.proxy = text })
        do throws(CurlError) {
            try proxy.check()
            #expect(expected.isEmpty)
        } catch {
            #expect("\(error.exitCode) \(error.message)" == expected)
        }
    }

    @Test(arguments: ["p:1/path", "http://p:1?query", "http://p:1/#f"]) func aPathHasNoMeaning(_ text: String) throws {
        #expect(try Self.proxy("http://h") { $0.proxy = text }?.url == "http://p:1")
    }

    @Test func aUserInTheURLIsUsed() throws {
        #expect(try Self.proxy("http://h") { ($0.proxy, $0.proxyUser) = ("a:b@p", "c:d") }?.user == nil)
        #expect(try Self.proxy("http://h") { ($0.proxy, $0.proxyUser) = ("p/@", "c:d") }?.user == "c:d")
    }

    @Test(
        "Hosts without a proxy",
        arguments: [
            ("example.com", "example.com", true), ("www.example.com", "example.com", true),
            ("wwwexample.com", "example.com", false), ("example.com", ".example.com", true),
            ("EXAMPLE.com.", "example.COM", true), ("example.com", "example.com.", true), ("example.com", "*", true),
            ("example.com", "a,*", false), ("example.com", "a b,\texample.com", true), ("example.com", "", false),
            ("192.168.1.1", "192.168.0.0/16", true), ("192.169.1.1", "192.168.0.0/16", false),
            ("10.1.1.1", "10.1.1.0/31", true), ("10.1.1.2", "10.1.1.0/31", false), ("10.1.1.1", "10.1.1.1/33", false),
            ("10.1.1.1", "0.0.0.0/0", true), ("::1", "[::1]", true), ("fe80::1", "fe80::/10", true),
            ("::1", "127.0.0.0/8", false), ("1.1.1.1", "1.1.1", false),
        ])
    func exceptions(_ host: String, _ list: String, _ expected: Bool) {
        #expect(CurlNoProxy(list).contains(host) == expected)
    }

    @Test func aSchemeThatIsNoneOfAProxyIsAFailure() throws {
        for scheme in ["http", "HTTPS", "socks", "socks4", "socks4a", "socks5", "SOCKS5H"] {
            try Self.proxy("http://h") { $0.proxy = "\(scheme)://p" }?.check()
        }
        let error = try #require(throws: CurlError.self) {
            try Self.proxy("http://h") { $0.proxy = "bogus://p:1" }?.check()
        }
        #expect(error == CurlError(exitCode: 7, message: "Unsupported proxy scheme for 'bogus://p:1'"))
    }
}
