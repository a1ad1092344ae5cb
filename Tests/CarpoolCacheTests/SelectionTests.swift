import CarpoolHTTP
import Testing

@testable import CarpoolCache

/// Which of the stored responses a request selects, and which ones a new response replaces.
struct SelectionTests {
    private let fresh = "Cache-Control: max-age=5000"

    @Test(
        "HK-05: Vary",
        arguments: [
            (["Foo: 1"], ["Foo: 1"], "Foo", "serve fresh"), (["Foo: 1"], ["Foo: 2"], "Foo", "forward vary"),
            ([], ["Foo: 1"], "Foo", "forward vary"), (["Foo: 1"], [], "Foo", "forward vary"),
            (["Foo: 1", "Other: 2"], ["Foo: 1", "Other: 3"], "Foo", "serve fresh"),
            (["Foo: 1", "Bar: a"], ["Bar: a", "Foo: 1"], "Foo, Bar", "serve fresh"),
            (["Foo: 1", "Bar: a"], ["Foo: 1", "Bar: b"], "Foo, Bar", "forward vary"),
            (["Foo: 1, 2"], ["Foo: 1", "Foo: 2"], "Foo", "serve fresh"),
            (["Foo: 1,2"], ["Foo: 1, 2"], "Foo", "serve fresh"),
            (["Foo: 1"], ["Foo: 1"], "Foo, Bar", "serve fresh"), (["Foo: a"], ["Foo: A"], "Foo", "forward vary"),
            (["Accept-Language: en, de"], ["Accept-Language: eN , De"], "Accept-Language", "serve fresh"),
            (["Cookie: a=1"], ["Cookie: a=2"], "Cookie", "forward vary"),
            (["Foo: é"], ["Foo: e\u{301}"], "Foo", "forward vary"), (["Foo;: 1"], ["Foo: 1"], "", "serve fresh"),
        ] as [([String], [String], String, String)])
    func vary(first: [String], second: [String], names: String, expected: String) throws {
        var scene = CacheScene()
        try scene.store([fresh, "Vary: \(names)"], for: scene.request(first))
        #expect(try scene.word(scene.request(second)) == expected)
    }

    @Test("HK-05: several variants, the newest first; a newer one replaces that of the same request")
    func variants() throws {
        var scene = CacheScene()
        try scene.store([fresh, "Vary: Foo", "N: 1"], for: scene.request(["Foo: 1"]))
        try scene.store([fresh, "Vary: Foo", "N: 2"], for: scene.request(["Foo: 2"]), at: 1)
        #expect(scene.stored.count == 2)
        #expect(try scene.answer(scene.request(["Foo: 1"])).head.fields.first("n") == "1")
        #expect(try scene.answer(scene.request(["Foo: 2"])).head.fields.first("n") == "2")
        try scene.store([fresh, "Vary: Foo", "N: 3"], for: scene.request(["Foo: 1"]), at: 2)
        #expect(scene.stored.count == 2)
        #expect(try scene.answer(scene.request(["Foo: 1"])).head.fields.first("n") == "3")
        try scene.store([fresh, "Vary: Bar", "N: 4"], for: scene.request(["Foo: 2", "Bar: 1"]), at: 2.5)
        #expect(scene.stored.count == 2, "the one for Foo: 2 would never be served before the newer one")
        #expect(try scene.answer(scene.request(["Foo: 1", "Bar: 1"])).head.fields.first("n") == "4")
    }

    @Test("HC-06: a newer no-store removes what the request selects, and no more")
    func newerNoStore() throws {
        var scene = CacheScene()
        try scene.store([fresh, "Vary: Foo"], for: scene.request(["Foo: 1"]))
        try scene.store([fresh, "Vary: Foo"], for: scene.request(["Foo: 2"]))
        try scene.store(["Cache-Control: no-store"], for: scene.request(["Foo: 1"]))
        #expect(scene.stored.count == 1)
        #expect(try scene.word(scene.request(["Foo: 2"])) == "serve fresh")
        try scene.store(["Cache-Control: no-store"], status: 404, for: scene.request(["Foo: 2"]))
        #expect(scene.stored.isEmpty)
    }

    @Test("HK-04: credentials")
    func credentials() throws {
        var scene = CacheScene()
        let anonymous = try scene.request()
        let ann = try scene.request(["Authorization: a"], credentials: [1])
        let bob = try scene.request(["Authorization: b"], credentials: [2])
        let cookie = try scene.request(["Cookie: c"], credentials: [3])
        try scene.store([fresh], for: ann)
        #expect(try scene.word(ann) == "serve fresh")
        for other in [anonymous, bob, cookie] { #expect(try scene.word(other) == "forward credentials") }
        scene.stored = []
        try scene.store([fresh], for: anonymous)
        #expect(try scene.word(cookie) == "serve fresh")
        #expect(try scene.word(ann) == "forward credentials")
        try scene.store([fresh], for: cookie, at: 1)
        #expect(scene.stored.count == 2, "a response for one caller does not replace that for all")
    }

    @Test("HK-04: a credential of the session counts as Authorization")
    func sessionCredential() throws {
        var scene = CacheScene()
        try scene.store([fresh])
        scene.use.credential = [1]
        #expect(try scene.word(scene.request(credentials: [9])) == "forward credentials")
        #expect(try scene.store([fresh], for: scene.request()) == .authorization, "nothing says whose it is")
    }

    @Test(
        "HC-03: Authorization in a shared store",
        arguments: [
            ("max-age=10", CacheReason.authorization), ("max-age=10, public", nil),
            ("max-age=10, must-revalidate", nil),
            ("s-maxage=10", nil),
        ])
    func authorization(control: String, expected: CacheReason?) throws {
        var scene = CacheScene()
        let request = try scene.request(["Authorization: a"], credentials: [1])
        scene.settings.mode = .sharedCache
        #expect(try scene.store(["Cache-Control: \(control)"], for: request) == expected)
    }

    @Test("HK-06: Accept-Encoding as it is sent; the other decode is a miss")
    func decoding() throws {
        var scene = CacheScene()
        try scene.store([fresh, "Vary: Accept-Encoding", "Content-Encoding: gzip"])
        #expect(try scene.word() == "serve fresh")
        #expect(try scene.word(scene.request(decodes: false)) == "forward decoding")
        #expect(try scene.word(scene.request(["Accept-Encoding: gzip"])) == "forward decoding")
        scene.stored = []
        try scene.store([fresh])
        #expect(try scene.word(scene.request(decodes: false)) == "serve fresh", "the bytes are the same either way")
        scene.stored = []
        try scene.store([fresh, "Vary: Accept-Encoding"], for: scene.request(["Accept-Encoding: gzip"]))
        #expect(try scene.word(scene.request(["Accept-Encoding: gzip"])) == "serve fresh")
        #expect(try scene.word(scene.request(["Accept-Encoding: br"])) == "forward vary")
    }

    @Test("HK-07: in shared stores, unknown fields select too")
    func unlisted() throws {
        var scene = CacheScene()
        scene.use.store = CacheStoreName(user: nil, name: "all", isShared: true)
        try scene.store([fresh], for: scene.request(["X-Forwarded-Host: evil"]))
        #expect(try scene.word() == "forward vary")
        #expect(try scene.word(scene.request(["x-forwarded-host: evil", "User-Agent: x"])) == "serve fresh")
        try scene.store([fresh], for: scene.request(["Accept: a", "Sec-X: b"]))
        #expect(try scene.word(scene.request(["Accept: b"])) == "serve fresh")
        #expect(try scene.word(scene.request(["X-Forwarded-Host: other"])) == "forward vary")
    }

    @Test("no secret stands in what is stored")
    func secrets() throws {
        let scene = CacheScene()
        let request = try scene.request(["Cookie: a=secret", "Authorization: secret"], credentials: [1])
        let storing = scene.policy.storing(
            CacheScene.head(200, [fresh, "Vary: Cookie, Authorization"]), of: request, in: [],
            requested: CacheScene.time(0), received: CacheScene.time(0))
        let response = try #require(storing.response)
        #expect(response.vary.map(\.value?.count) == [32, 32])
        #expect(storing.isSecret)
    }

    @Test(
        "HC-07: what is a secret",
        arguments: [
            ([], [], false), (["Set-Cookie: a"], [], true), (["Vary: Cookie"], [], true), ([], [1], true),
        ] as [([String], [UInt8], Bool)])
    func isSecret(lines: [String], credentials: [UInt8], expected: Bool) throws {
        let scene = CacheScene()
        let storing = scene.policy.storing(
            CacheScene.head(200, [fresh] + lines),
            of: try scene.request(credentials: credentials.isEmpty ? nil : credentials), in: [],
            requested: CacheScene.time(0), received: CacheScene.time(0))
        #expect(storing.isSecret == expected)
        #expect(storing.response != nil)
    }

    @Test("HC-07: what a cookie of the jar has selected is a secret")
    func cookieOfTheJar() throws {
        let scene = CacheScene()
        let request = try scene.request(jar: "a=1")
        let storing = scene.policy.storing(
            CacheScene.head(200, [fresh]), of: request, in: [], requested: CacheScene.time(0),
            received: CacheScene.time(0))
        #expect(storing.isSecret)
    }

    @Test("HC-04, HC-05: fields that are not stored, or not served")
    func storedFields() throws {
        var scene = CacheScene()
        let names = [
            "Connection: a, B", "Keep-Alive: x", "Proxy-Connection: x", "Proxy-Authenticate: x",
            "Proxy-Authentication-Info: x", "Proxy-Authorization: x", "TE: x", "Transfer-Encoding: x", "Upgrade: x",
            "A: 1", "b: 2",
        ]
        let control = "Cache-Control: max-age=5000, no-cache=\"d\", private=\"e\""
        try scene.store([control] + names + ["C: 3", "D: 4", "E: 5", "Set-Cookie: f", "Age: 7"])
        var fields = try scene.answer().head.fields
        #expect(fields.count == 6, "Cache-Control, C, E, Set-Cookie, Date and Age")
        #expect(fields.first("c") == "3")
        #expect(fields.first("e") == "5")
        #expect(fields.first("d") == nil)
        #expect(fields.all("age") == ["10"])
        #expect(fields.first("date") == CacheScene.date, "a Date is added to a response that has none")
        scene.settings.mode = .sharedCache
        scene.stored = []
        try scene.store([control, "E: 5", "C: 3", "Date: foo"])
        fields = try scene.answer().head.fields
        #expect(fields.first("e") == nil)
        #expect(fields.first("c") == "3")
        #expect(fields.all("date") == [CacheScene.date])
    }

    @Test("HF-08: Age is that of now; Date and Expires are as stored; the head says that it is stored")
    func age() throws {
        var scene = CacheScene()
        try scene.store([fresh, "Date: Wed, 31 Dec 2025 23:59:50 GMT", "Expires: x", "Age: 30"])
        let answer = try scene.answer(at: 4.5)
        #expect(answer.head.isStored)
        #expect(answer.head.fields.first("age") == "34")
        #expect(answer.head.fields.first("expires") == "x")
        #expect(answer.head.fields.first("date") == "Wed, 31 Dec 2025 23:59:50 GMT")
        #expect(answer.outcome.ageMilliseconds == 34_500)
        #expect(answer.outcome.ttlMilliseconds == 4_965_500)
        #expect(answer.outcome.status == .hit)
        #expect(answer.range == nil)
    }

    @Test("a lifetime of the caller stands in place of the response's, but not of no-store")
    func ttl() throws {
        var scene = CacheScene()
        scene.use.ttlMilliseconds = 10_000
        try scene.store(["Cache-Control: no-cache, max-age=0", "Age: 500"], status: 201)
        #expect(try scene.word(at: 9) == "serve fresh")
        #expect(try scene.word(at: 10) == "forward expired")
        #expect(try scene.store(["Cache-Control: no-store"]) == .noStore)
        scene.stored = []
        scene.use.ttlMilliseconds = 0
        try scene.store([fresh])
        #expect(try scene.word(at: 1) == "forward expired")
    }
}
