import CarpoolHTTP
import Testing

@testable import CarpoolCache

/// What is done with a request when one response is stored: lines of the response, lines of the request, the decision.
struct PolicyTests {
    private func check(_ row: PolicyRow) throws {
        var scene = CacheScene()
        scene.settings.mode = row.isShared ? .sharedCache : .privateCache
        let refusal = try scene.store(row.response, status: row.status)
        let word =
            try refusal.map { "refused \($0.rawValue)" } ?? scene.word(scene.request(row.request), at: row.seconds)
        #expect(word == row.expected)
    }

    @Test("HF-01 to HF-05: freshness and age", arguments: PolicyRow.freshness)
    func freshness(row: PolicyRow) throws { try check(row) }

    @Test("HF-06: heuristic freshness", arguments: PolicyRow.heuristic)
    func heuristic(row: PolicyRow) throws { try check(row) }

    @Test("HF-09: directives of the request", arguments: PolicyRow.demands)
    func demands(row: PolicyRow) throws {
        var row = row
        row.response = ["Cache-Control: max-age=1500", "ETag: \"a\""]
        try check(row)
    }

    @Test("HC-01, HC-02: what is stored", arguments: PolicyRow.stores)
    func stores(row: PolicyRow) throws { try check(row) }

    @Test(
        "HC-01: any final status with explicit freshness is stored",
        arguments: [200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599, 999])
    func explicit(status: Int) throws {
        try check(PolicyRow(id: "", response: ["Cache-Control: max-age=10"], status: status, expected: "serve fresh"))
    }

    @Test("HF-06: without heuristics, a response without freshness is not stored")
    func noHeuristic() throws {
        var scene = CacheScene()
        scene.settings.isHeuristic = false
        #expect(try scene.store([PolicyRow.day, PolicyRow.modified]) == .noFreshness)
        #expect(try scene.store(["ETag: \"a\""]) == .noFreshness)
        #expect(try scene.store(["ETag: \"a\"", "Cache-Control: no-cache"]) == nil)
        #expect(try scene.store([PolicyRow.day, PolicyRow.modified, "Cache-Control: public"]) == nil)
        #expect(try scene.word() == "validate no_freshness")
        scene.use.policy = .returnCacheElseLoad
        #expect(try scene.store([PolicyRow.day]) == nil)
    }

    @Test("HF-06: not with a query")
    func heuristicQuery() throws {
        for (url, expected) in [("http://a.test/x?y", "validate no_freshness"), ("http://a.test/x#y?z", "serve fresh")]
        {
            var scene = CacheScene()
            try scene.store([PolicyRow.day, PolicyRow.modified], for: scene.request(url: url))
            #expect(try scene.word(scene.request(url: url)) == expected)
        }
    }
}
