@testable import CarpoolHTTP
@testable import CarpoolSession
import Testing

struct CookieJarTests {
    /// An account with room for so many bytes.
    private final class Memory: SharedMemory {
        let limit: Int
        private(set) var counted = 0

        init(limit: Int) { self.limit = limit }

        func count(_ bytes: Int, for owner: any SharedMemoryOwner) -> Bool {
            guard bytes <= limit else { return false }
            counted = bytes
            return true
        }
    }

    private static let now: Int64 = 1_700_000_000

    private func target(_ url: String) throws -> CookieTarget { CookieTarget(try HTTPURL(url)) }

    private func store(_ fields: [String], from url: String, in jar: CookieJar, at now: Int64 = now) throws {
        var block = FieldBlock()
        for field in fields {
            let line = Array("Set-Cookie: \(field)".utf8)
            #expect(line.withUnsafeBytes { block.append(line: $0) })
        }
        let target = try target(url)
        jar.store(block, from: target, at: now)
    }

    private func sent(_ jar: CookieJar, _ url: String, at now: Int64 = now) throws -> String {
        CookieField.field(jar.cookies(for: try target(url), at: now))?.value ?? ""
    }

    @Test("Cookies go to their host or domain, to their path, and to secure connections")
    func matching() throws {
        let jar = CookieJar()
        try store(
            ["host=1; Path=/", "domain=2; Domain=example.com; Path=/", "path=3; Path=/x"],
            from: "http://a.example.com/", in: jar)
        try store(["secure=4; Secure; Path=/"], from: "https://a.example.com/", in: jar)
        #expect(try sent(jar, "http://a.example.com/") == "host=1; domain=2")
        #expect(try sent(jar, "http://b.example.com/") == "domain=2")
        #expect(try sent(jar, "http://example.com/") == "domain=2")
        #expect(try sent(jar, "http://ample.com/") == "")
        #expect(try sent(jar, "http://a.example.com/x/y") == "path=3; host=1; domain=2")
        #expect(try sent(jar, "http://a.example.com/xy") == "host=1; domain=2")
        #expect(try sent(jar, "https://a.example.com:8443/") == "host=1; domain=2; secure=4")
        #expect(try sent(jar, "http://x.a.example.com/") == "domain=2")
    }

    @Test("Longer paths are sent first, then older cookies; a replaced cookie keeps its place")
    func order() throws {
        let jar = CookieJar()
        try store(["b=1; Path=/", "a=2; Path=/", "c=3; Path=/deep"], from: "http://h.test/", in: jar)
        try store(["b=4; Path=/"], from: "http://h.test/", in: jar)
        #expect(try sent(jar, "http://h.test/deep") == "c=3; b=4; a=2")
    }

    @Test("A cookie ends with its date, and is removed by one that has ended")
    func expiry() throws {
        let jar = CookieJar()
        try store(["a=1; Max-Age=10", "b=2"], from: "http://h.test/", in: jar)
        #expect(try sent(jar, "http://h.test/", at: Self.now + 9) == "a=1; b=2")
        #expect(try sent(jar, "http://h.test/", at: Self.now + 10) == "b=2")
        try store(["b=; Max-Age=0"], from: "http://h.test/", in: jar)
        #expect(try sent(jar, "http://h.test/") == "a=1")
    }

    @Test("A plain connection cannot replace a secure cookie, nor one with a longer path below it")
    func leavesSecureCookiesAlone() throws {
        let jar = CookieJar()
        try store(["a=1; Secure; Path=/login"], from: "https://www.example.com/", in: jar)
        try store(
            ["a=2; Path=/login/en", "a=3; Path=/login; Domain=example.com"], from: "http://www.example.com/", in: jar)
        #expect(jar.count == 1)
        try store(["a=4; Path=/"], from: "http://www.example.com/", in: jar)
        #expect(jar.count == 2)
    }

    @Test("A cookie of one origin goes to no other port, and the server's replaces it")
    func oneOrigin() throws {
        let jar = CookieJar()
        let origin = try HTTPURL("http://h.test:81/").origin
        jar.add([Cookie(name: "a", value: "1", domain: "h.test", origin: origin)])
        #expect(try sent(jar, "http://h.test:81/x") == "a=1")
        #expect(try sent(jar, "http://h.test:82/x") == "")
        #expect(try sent(jar, "https://h.test:81/x") == "")
        try store(["a=2; Path=/"], from: "http://h.test:81/", in: jar)
        #expect(try sent(jar, "http://h.test:82/x") == "a=2")
    }

    @Test("A site has 180 cookies, a jar 3,000; beyond it those go that were not used for the longest time")
    func limits() throws {
        let jar = CookieJar()
        jar.add((0..<180).map { Cookie(name: "n\($0)", value: "", domain: "a\($0).example.com") })
        #expect(jar.count == 180)
        #expect(try sent(jar, "http://a0.example.com/") == "n0=")
        jar.add([Cookie(name: "more", value: "", domain: "b.example.com")])
        #expect(jar.count == 150)
        #expect(jar.all().contains { $0.name == "n0" } && !jar.all().contains { $0.name == "n1" })
        jar.add([Cookie(name: "kept", value: "", domain: "k.test")])
        jar.add((0..<2_849).map { Cookie(name: "m", value: "", domain: "h\($0).test") })
        #expect(jar.count == 3_000)
        jar.add([Cookie(name: "m", value: "", domain: "last.test")])
        #expect(jar.count == 2_700)
        #expect(!jar.all().contains { $0.domain == "k.test" || $0.name == "n1" })
        #expect(jar.all().contains { $0.domain == "last.test" })
    }

    @Test("Texts are compared byte by byte, and IPv6 addresses with their zones")
    func bytes() throws {
        let jar = CookieJar()
        jar.add([
            Cookie(name: "\u{E9}", value: "1", domain: "h.test"),
            Cookie(name: "e\u{301}", value: "2", domain: "h.test"),
        ])
        #expect(jar.count == 2)
        try store(["a=1; Path=/"], from: "http://[fe80::1%25eth0]/", in: jar)
        #expect(try sent(jar, "http://[fe80::1%25eth0]/") == "a=1")
        #expect(try sent(jar, "http://[fe80::1%25eth1]/") == "")
        #expect(try sent(jar, "http://[fe80::1]/") == "")
    }

    @Test("A response sets 50 cookies, a request is sent with 150 of them and 8,190 bytes")
    func limitsOfFields() throws {
        let jar = CookieJar()
        try store((0..<60).map { "n\($0)=1" }, from: "http://h.test/", in: jar)
        #expect(jar.count == 50)
        jar.add((0..<125).map { Cookie(name: "m\($0)", value: "1", domain: "h.test") })
        #expect(try sent(jar, "http://h.test/").split(separator: ";").count == 150)
        jar.add((0..<4).map { Cookie(name: "m\($0)", value: String(repeating: "x", count: 3_000), domain: "k.test") })
        #expect(try sent(jar, "http://k.test/").utf8.count < 8_190)
        #expect(try sent(jar, "http://k.test/").split(separator: ";").count == 2)
    }

    @Test("Without memory the cookies that were used last stay")
    func memory() throws {
        let memory = Memory(limit: 20_000)
        let jar = CookieJar(memory: memory)
        jar.add((0..<100).map { Cookie(name: "n\($0)", value: "", domain: "h.test") })
        #expect(jar.bytes <= 20_000 && jar.bytes == memory.counted)
        #expect(jar.all().contains { $0.name == "n99" } && !jar.all().contains { $0.name == "n0" })
        jar.remove { _ in true }
        #expect(jar.count == 0 && jar.bytes == 0 && memory.counted == 0)
    }
}

struct NetscapeCookiesTests {
    @Test("A text that is written and read is the same")
    func roundTrip() throws {
        let cookies = [
            Cookie(
                name: "a", value: "b=c d", domain: "h.test", expires: 4_000_000_000, isSecure: true, isHTTPOnly: true),
            Cookie(name: "e", value: "", domain: "example.com", isHostOnly: false, path: "/x"),
            Cookie(name: "", value: "only", domain: "h.test"),
            Cookie(name: "six", value: "1", domain: "[::1]"),
        ]
        let text = NetscapeCookies.text(cookies)
        #expect(text.contains("#HttpOnly_h.test\tFALSE\t/\tTRUE\t4000000000\ta\tb=c d\n"))
        #expect(text.contains("\n.example.com\tTRUE\t/x\tFALSE\t0\te\t\n"))
        #expect(try NetscapeCookies.read(text, for: nil) == cookies)
    }

    @Test(
        "Lines that are no cookies are ignored",
        arguments: [
            "", "# comment", "h.test\tFALSE\t/\tFALSE\t0", "h.test FALSE / FALSE 0 a b",
            "h.test\tFALSE\t/\tFALSE\tx\ta\tb", "h.test\tFALSE\tp\tFALSE\t0\ta\tb", "\tFALSE\t/\tFALSE\t0\ta\tb",
            "com\tTRUE\t/\tFALSE\t0\ta\tb", "h.test\tFALSE\t/\tFALSE\t0\ta\tb;c", "h.test\tFALSE\t/\tFALSE\t0\ta=\tb",
            "h.test\tFALSE\t/\tFALSE\t0\t__Secure-a\tb", "Set-Cookie: a=b", "h.test\tFALSE\t/\tFALSE\t0\ta\tb\tc",
        ])
    func ignored(_ line: String) throws { #expect(try NetscapeCookies.read(line, for: nil) == []) }

    @Test("Of an expiry with a fraction the whole seconds count")
    func fractions() throws {
        let text = "h.test\tFALSE\t/\tFALSE\t4000000000.742\ta\tb\nh.test\tFALSE\t/\tFALSE\t4.x\tc\td\n"
        #expect(try NetscapeCookies.read(text, for: nil).map(\.expires) == [4_000_000_000])
    }

    @Test("Set-Cookie lines are read for the host of a request; session cookies can be left out")
    func fields() throws {
        let target = CookieTarget(try HTTPURL("http://h.test/a/b"))
        let text =
            "set-COOKIE: a=b; Path=/\r\nSet-Cookie: c=d; Domain=other.test\nh.test\tFALSE\t/\tFALSE\t4000000000\te\tf\n"
        #expect(try NetscapeCookies.read(text, for: target).map(\.name) == ["a", "e"])
        #expect(try NetscapeCookies.read(text, for: target, withoutSessionCookies: true).map(\.name) == ["e"])
    }

    @Test("A text with more cookies than a jar is refused")
    func tooMany() {
        let text = (0...3_000).map { "h\($0).test\tFALSE\t/\tFALSE\t0\ta\tb\n" }.joined()
        #expect(throws: NetscapeCookies.Refusal.tooMany) { try NetscapeCookies.read(text, for: nil) }
        let lines = String(repeating: "#\n", count: 20_001)
        #expect(throws: NetscapeCookies.Refusal.tooManyLines) { try NetscapeCookies.read(lines, for: nil) }
    }
}
