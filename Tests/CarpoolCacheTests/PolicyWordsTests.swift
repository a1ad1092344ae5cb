import CarpoolHTTP
import Testing

@testable import CarpoolCache

/// The words of `cache.policy`, methods, and what is invalidated.
struct PolicyWordsTests {
    private static let response = ["Cache-Control: max-age=10", "ETag: \"a\""]

    @Test(
        "HP-01 to HP-06: fresh, stale, invalidated, nothing",
        arguments: [
            (.useProtocol, ["serve fresh", "validate expired", "validate invalidated", "forward not_stored"]),
            (.reloadIgnoringCache, ["forward policy", "forward policy", "forward policy", "forward policy"]),
            (.returnCacheElseLoad, ["serve fresh", "serve any_age", "validate invalidated", "forward not_stored"]),
            (.returnCacheDontLoad, ["serve fresh", "serve any_age", "fail invalidated", "fail not_stored"]),
            (
                .reloadRevalidating,
                ["validate policy", "validate policy", "validate invalidated", "forward not_stored"]
            ),
            (.noStore, ["forward policy", "forward policy", "forward policy", "forward policy"]),
        ] as [(RequestCachePolicy, [String])])
    func policies(policy: RequestCachePolicy, expected: [String]) throws {
        var scene = CacheScene()
        try scene.store(Self.response)
        scene.use.policy = policy
        var words = [try scene.word(at: 1), try scene.word(at: 11)]
        scene.stored[0].isInvalidated = true
        words.append(try scene.word(at: 1))
        scene.stored = []
        words.append(try scene.word(at: 1))
        #expect(words == expected)
    }

    @Test("HP-06: nothing is stored")
    func noStore() throws {
        var scene = CacheScene()
        scene.use.policy = .noStore
        #expect(try !scene.forwarding().stores)
        #expect(try scene.store(Self.response) == .policy)
        scene.use.policy = .useProtocol
        scene.use.stores = false
        #expect(try !scene.forwarding().stores)
        #expect(try scene.store(Self.response) == .policy)
    }

    @Test("HP-02, HP-05: what caches on the way are asked")
    func demands() throws {
        var scene = CacheScene()
        scene.use.policy = .reloadIgnoringCache
        #expect(try scene.forwarding().fields == nil)
        scene.use.ignoresRemote = true
        #expect(try scene.forwarding().fields?.value("cache-control") == "no-cache")
        #expect(try scene.forwarding(scene.request(["Cache-Control: x"])).fields == nil)
        scene.use.policy = .reloadRevalidating
        #expect(try scene.forwarding().fields?.value("cache-control") == "max-age=0")
        try scene.store(Self.response)
        let fields = try #require(try scene.forwarding().fields)
        #expect(fields.value("cache-control") == "max-age=0")
        #expect(fields.value("if-none-match") == "\"a\"")
    }

    @Test("HF-07: immutable and fresh is not validated again; stale is")
    func immutable() throws {
        var scene = CacheScene()
        scene.use.policy = .reloadRevalidating
        try scene.store(["Cache-Control: max-age=10, immutable", "ETag: \"a\""])
        #expect(try scene.word(at: 9) == "serve immutable")
        #expect(try scene.word(at: 10) == "validate policy")
    }

    @Test("HK-01: GET without a body and HEAD read; no other method does")
    func methods() throws {
        var scene = CacheScene()
        try scene.store(Self.response)
        #expect(try scene.word(scene.request(method: "HEAD")) == "serve fresh")
        #expect(try scene.answer(scene.request(method: "HEAD")).range == 0..<0)
        for method in ["POST", "PUT", "OPTIONS", "get"] {
            #expect(try scene.word(scene.request(method: method)) == "forward method")
            #expect(try scene.store(Self.response, for: scene.request(method: method)) == .method)
        }
        #expect(try scene.word(scene.request(body: .bytes([1]))) == "forward method")
        scene.use.policy = .returnCacheDontLoad
        #expect(try scene.word(scene.request(method: "POST")) == "fail method")
    }

    @Test("HF-09: only-if-cached is a 504 that is made here")
    func onlyIfCached() throws {
        let scene = CacheScene()
        let answer = try scene.answer(scene.request(["Cache-Control: only-if-cached"]))
        #expect(answer.head.status == 504)
        #expect(answer.index == nil)
        #expect(answer.range == 0..<0)
    }

    @Test("HV-09: in the background, if the request allows it")
    func background() throws {
        var scene = CacheScene()
        try scene.store(["Cache-Control: max-age=1, stale-while-revalidate=60", "ETag: \"a\""])
        let request = try scene.request(["Range: bytes=0-1", "If-Modified-Since: \(CacheScene.date)"])
        let fields = try #require(try scene.forwarding(request).fields)
        #expect(fields.map(\.name) == ["If-None-Match"])
        #expect(try scene.word(scene.request(method: "HEAD")) == "serve stale_while_revalidate")
        scene.use.revalidatesInBackground = false
        #expect(try scene.word() == "validate expired")
    }

    @Test("every reason has a sentence, and no two the same")
    func explanations() {
        let sentences = Set(CacheReason.allCases.map(\.explanation))
        #expect(sentences.count == CacheReason.allCases.count)
        for sentence in sentences { #expect(sentence.hasSuffix(".")) }
    }

    @Test(
        "HI-01, HI-02: what a response to an unsafe method makes invalid",
        arguments: [
            ("POST", 200, [], ["http://a.test/x"]), ("PUT", 204, [], ["http://a.test/x"]),
            ("DELETE", 302, [], ["http://a.test/x"]), ("M-SEARCH", 200, [], ["http://a.test/x"]),
            ("POST", 500, ["Location: /y"], []), ("POST", 404, [], []), ("GET", 200, ["Location: /y"], []),
            ("HEAD", 200, [], []), ("OPTIONS", 200, [], []), ("TRACE", 200, [], []), ("QUERY", 200, [], []),
            (
                "POST", 201, ["Location: y", "Content-Location: http://a.test:80/z"],
                ["http://a.test/x", "http://a.test/y", "http://a.test:80/z"]
            ), ("POST", 201, ["Location: https://a.test/y", "Content-Location: //b.test/"], ["http://a.test/x"]),
            ("POST", 201, ["Location: /x", "Content-Location: http://["], ["http://a.test/x"]),
        ] as [(String, Int, [String], [String])])
    func invalidation(method: String, status: Int, lines: [String], expected: [String]) throws {
        let request = try CacheScene().request(method: method)
        let invalidation = CachePolicy.invalidation(by: CacheScene.head(status, lines), of: request)
        #expect(invalidation.urls.map(\.description) == expected)
        #expect(invalidation.isEmpty == expected.isEmpty)
    }

    @Test("HI-03: Clear-Site-Data, with TLS alone")
    func clearSiteData() throws {
        for (url, value, isCleared) in [
            ("https://a.test/x", "\"cookies\", \"cache\"", true), ("https://a.test/x", "\"*\"", true),
            ("https://a.test/x", "cache", false), ("http://a.test/x", "\"cache\"", false),
        ] {
            let head = CacheScene.head(200, ["Clear-Site-Data: \(value)"])
            let invalidation = CachePolicy.invalidation(by: head, of: try CacheScene().request(url: url))
            #expect((invalidation.origin != nil) == isCleared)
        }
    }
}
