import CarpoolHTTP
import Testing

@testable import CarpoolCache

/// Memory, lists and purges.
struct StoreTests {
    @Test("HS-01: the user with the most loses first, and the least recently used of its responses")
    func memoryIsDividedAmongUsers() throws {
        let stage = try CacheStage(memoryBytes: 262_144)
        let body = String(repeating: "x", count: 8_000)
        func fetch(_ path: String, _ user: UInt32) throws {
            let caller = try stage.get(path, user: user)
            if caller.task?.needsNetwork == true { try stage.task(stage.origin.tasks.count).respond(body: body) }
            stage.turns(1)
        }
        try fetch("/kept", 1)
        for number in 0..<60 { try fetch("/\(number)", 2) }
        #expect(try stage.get("/kept", user: 1).task?.needsNetwork == false)
        #expect(try stage.get("/0", user: 2).task?.needsNetwork == true)
        #expect(try stage.get("/59", user: 2).task?.needsNetwork == false)
        let used = stage.stores.statistics(of: 1) + stage.stores.statistics(of: 2)
        #expect(used.reduce(0) { $0 + $1.memoryBytes } <= 262_144)
        #expect(stage.stores.statistics(of: 2)[0].counters.evicted > 0)
    }

    @Test("HK-05: 16 variants a key; the seventeenth replaces the least used")
    func variants() throws {
        let stage = try CacheStage()
        for number in 0..<17 {
            try stage.get("/", ["Accept": "type/\(number)"])
            try stage.task(number + 1).respond(
                200, ["cache-control": "max-age=60", "vary": "accept"], body: "\(number)")
        }
        #expect(stage.stores.statistics(of: nil)[0].entries == 16)
        let last = try stage.get("/", ["Accept": "type/16"])
        stage.turns()
        #expect(last.text == "16")
    }

    @Test("A newer response takes the place of the one for the same requests")
    func replacing() throws {
        let stage = try CacheStage()
        for number in 1...20 {
            try stage.get { $0.policy = .reloadIgnoringCache }
            try stage.task(number).respond(body: "\(number)")
        }
        #expect(stage.stores.statistics(of: nil)[0].entries == 1)
    }

    @Test("Lists and purges: by URL, prefix, origin and all; soft ones only mark")
    func purging() throws {
        let stage = try CacheStage()
        for (number, path) in ["/a/1", "/a/2", "/b"].enumerated() {
            try stage.get(path)
            try stage.task(number + 1).respond(body: "x")
        }
        #expect(list(stage).map(\.url).sorted() == ["/a/1", "/a/2", "/b"].map { "http://origin.test\($0)" })
        var filter = StoreFilter()
        filter.prefix = "http://origin.test/a/"
        #expect(purge(stage, filter, .markStale) == 2)
        #expect(try stage.get("/a/1").task?.needsNetwork == true)
        filter = StoreFilter()
        filter.url = "http://origin.test/a/1"
        #expect(purge(stage, filter) == 1)
        filter = StoreFilter()
        filter.origin = "http://origin.tes"
        #expect(purge(stage, filter) == 0)
        filter.origin = "http://origin.test"
        #expect(purge(stage, filter) == 2)
        #expect(list(stage).isEmpty)
    }

    private func list(_ stage: CacheStage) -> [CachedResponseSummary] {
        var found: [CachedResponseSummary] = []
        let name = CacheStoreName(user: nil, name: "s")
        stage.stores.list(name, StoreFilter(), after: 0, limit: 100) { found = $0 }
        stage.turns()
        return found
    }

    private func purge(_ stage: CacheStage, _ filter: StoreFilter, _ kind: CacheStores.Purge = .remove) -> Int {
        var count = -1
        stage.stores.purge(of: nil, nil, filter, kind) { count = $0 }
        stage.turns()
        return count
    }

    @Test(
        "HK-01: scheme, host and default port are normalised, the fragment is dropped, nothing else changes",
        arguments: [
            ("http://a.test/x", "http://a.test/x"), ("HTTP://A.test:80/x?q=1#f", "http://a.test/x?q=1"),
            ("https://a.test:443", "https://a.test/"), ("http://a.test:8080/%7Ea/../b", "http://a.test:8080/%7Ea/../b"),
            ("http://[::1]/", "http://[::1]/"), ("http://a.test/X?B=2&A=1", "http://a.test/X?B=2&A=1"),
        ])
    func keys(_ url: String, _ key: String) throws {
        #expect(try HTTPURL(url).withoutFragment == key)
    }
}
