import CarpoolHTTP
import Testing

@testable import CarpoolCache

/// HX-01 to HX-03: which requests share a response that is under way.
struct SharingTests {
    @Test(
        "HX-01: what may share",
        arguments: [
            (.useProtocol, "GET", [], true), (.returnCacheElseLoad, "GET", [], true), (.useProtocol, "HEAD", [], false),
            (.reloadRevalidating, "GET", [], true), (.reloadIgnoringCache, "GET", [], false),
            (.noStore, "GET", [], false), (.useProtocol, "POST", [], false),
            (.useProtocol, "GET", ["Range: bytes=0-1"], false), (.useProtocol, "GET", ["If-None-Match: \"a\""], false),
            (.useProtocol, "GET", ["If-Match: \"a\""], false),
            (.useProtocol, "GET", ["Cache-Control: no-store"], false),
        ] as [(RequestCachePolicy, String, [String], Bool)])
    func mayShare(policy: RequestCachePolicy, method: String, lines: [String], expected: Bool) throws {
        var scene = CacheScene()
        scene.use.policy = policy
        let request = try scene.request(lines, method: method)
        let forwarding = try scene.forwarding(request)
        #expect(scene.policy.mayShare(request, after: forwarding) == expected)
        scene.settings.coalesces = false
        #expect(!scene.policy.mayShare(request, after: forwarding))
    }

    @Test(
        "HX-02: what is equal, with nothing known",
        arguments: [
            ([], ["User-Agent: x", "Referer: y", "traceparent: z"], true), (["A: 1"], ["a: 1"], true),
            (["A: 1", "B: 2"], ["B: 2", "A: 1"], true), (["A: 1"], ["A: 2"], false), ([], ["A: 1"], false),
            (["Cookie: a"], ["Cookie: b"], false), (["A: 1:1:b:2"], ["A: 1", "B: 2"], false),
            (["Cache-Control: max-age=0"], [], false),
        ] as [([String], [String], Bool)])
    func signature(first: [String], second: [String], isEqual: Bool) throws {
        let scene = CacheScene()
        let signatures = try [first, second].map { try scene.policy.sharingSignature(of: scene.request($0), in: []) }
        #expect((signatures[0] == signatures[1]) == isEqual)
    }

    @Test("HX-02: what is equal where Vary is known, and besides the fields")
    func knownSignature() throws {
        var scene = CacheScene()
        try scene.store(["Cache-Control: max-age=1", "Vary: Foo"])
        let signature = { (request: CacheRequest) in scene.policy.sharingSignature(of: request, in: scene.stored) }
        let plain = try signature(scene.request())
        #expect(try signature(scene.request(["Bar: 1"])) == plain)
        #expect(try signature(scene.request(["Foo: 1"])) != plain)
        #expect(try signature(scene.request(["Cache-Control: no-cache"])) != plain)
        #expect(try signature(scene.request(credentials: [1])) != plain)
        #expect(try signature(scene.request(method: "HEAD")) != plain)
        #expect(try signature(scene.request(decodes: false)) != plain)
    }

    @Test(
        "HX-03: whom a head fits",
        arguments: [
            (["Cache-Control: max-age=5"], [], nil, true), (["Cache-Control: max-age=0"], [], nil, true),
            (["Cache-Control: no-store"], [], nil, false), (["Cache-Control: no-cache, max-age=5"], [], nil, false),
            (["Cache-Control: max-age=5", "Vary: Foo"], ["Foo: 1"], nil, false),
            (["Cache-Control: max-age=5", "Vary: Bar"], ["Foo: 1"], nil, true),
            (["Cache-Control: max-age=5"], [], [1], false),
        ] as [([String], [String], [UInt8]?, Bool)])
    func fits(head: [String], request: [String], credentials: [UInt8]?, expected: Bool) throws {
        let scene = CacheScene()
        let storing = scene.policy.storing(
            CacheScene.head(200, head), of: try scene.request(), in: [], requested: CacheScene.time(0),
            received: CacheScene.time(0))
        let waiter = try scene.request(request, credentials: credentials)
        #expect(scene.policy.fits(storing, waiter) == expected)
        guard expected, let response = storing.response else { return }
        let answer = scene.policy.sharedAnswer(response, for: waiter, at: CacheScene.time(1))
        #expect(answer.status == .collapsed && answer.head.isStored && answer.index == nil)
    }

    @Test(
        "HX-03: whom a head fits that came before the request: those that a stored response would be served to",
        arguments: [
            (["Cache-Control: max-age=5"], [], RequestCachePolicy.useProtocol, true),
            (["Cache-Control: max-age=1"], [], .useProtocol, false),
            (["Cache-Control: max-age=1"], [], .returnCacheElseLoad, true),
            (["Cache-Control: max-age=5"], [], .reloadRevalidating, false),
            (["Cache-Control: max-age=5"], ["Cache-Control: no-cache"], .useProtocol, false),
            (["Cache-Control: max-age=5"], ["Cache-Control: max-age=1"], .useProtocol, false),
        ] as [([String], [String], RequestCachePolicy, Bool)])
    func fitsLate(head: [String], request: [String], policy: RequestCachePolicy, expected: Bool) throws {
        var scene = CacheScene()
        let storing = scene.policy.storing(
            CacheScene.head(200, head), of: try scene.request(), in: [], requested: CacheScene.time(0),
            received: CacheScene.time(0))
        scene.use.policy = policy
        #expect(scene.policy.fitsLate(storing, try scene.request(request), at: CacheScene.time(2)) == expected)
    }
}
