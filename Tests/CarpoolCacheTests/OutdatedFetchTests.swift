import CarpoolHTTP
import Testing

@testable import CarpoolCache

/// Fetches that are older than a change, a purge or a demand of the request that would share them.
struct OutdatedFetchTests {
    @Test("HI-01: a request after a change does not share a fetch from before it, whose response is not stored")
    func changedMeanwhile() throws {
        let stage = try CacheStage()
        let old = try stage.get()
        try stage.get(method: .post)
        try stage.task(2).respond(204, [:], body: "")
        let new = try stage.get()
        #expect(stage.origin.tasks.count == 3)
        try stage.task(1).respond(body: "old")
        try stage.task(3).respond(body: "new")
        stage.turns()
        #expect(old.text == "old" && old.outcome?.isStored == false && old.outcome?.reason == "purged")
        #expect(new.text == "new" && new.outcome?.isStored == true)
        let last = try stage.get()
        stage.turns()
        #expect(last.text == "new" && last.outcome?.status == .hit)
    }

    @Test("A request after a purge does not share a fetch from before it")
    func purgedMeanwhile() throws {
        let stage = try CacheStage()
        try stage.get()
        try stage.get("/other")
        var filter = StoreFilter()
        filter.url = "http://origin.test/"
        stage.stores.purge(of: nil, nil, filter, .remove) { _ in }
        stage.turns()
        try stage.get()
        try stage.get("/other")
        #expect(stage.origin.tasks.count == 3)
    }

    @Test("HP-05: a body that is arriving is not used for requests that it would not be served to if it were stored")
    func lateDemands() throws {
        let stage = try CacheStage()
        try stage.get()
        try stage.task(1).head(200, ["cache-control": "max-age=0, must-revalidate"])
        try stage.get()
        #expect(stage.origin.tasks.count == 2)
        try stage.get("/fresh")
        try stage.task(3).head()
        try stage.get("/fresh") { $0.policy = .reloadRevalidating }
        #expect(stage.origin.tasks.count == 4)
    }

    @Test("HX-01: HEAD is not shared, and does not keep GETs from being shared")
    func head() throws {
        let stage = try CacheStage()
        for _ in 0..<2 { try stage.get(method: .head) }
        #expect(stage.origin.tasks.count == 2)
        try stage.task(1).respond(body: "")
        for _ in 0..<2 { try stage.get() }
        #expect(stage.origin.tasks.count == 3)
    }

    @Test("HP-04: return_cache_dont_load asks no origin, whatever the method and the kind")
    func offline() throws {
        let stage = try CacheStage()
        let post = try stage.get(method: .post) { $0.policy = .returnCacheDontLoad }
        let stream = try stage.get {
            $0.policy = .returnCacheDontLoad
            $0.isExcluded = true
        }
        stage.turns()
        #expect(stage.origin.tasks.isEmpty)
        for caller in [post, stream] { #expect(caller.completion?.error?.code == .resourceUnavailable) }
    }

    @Test("HV-06: without a validator a HEAD leaves the stored response as it is")
    func headWithoutValidator() throws {
        let stage = try CacheStage()
        try stage.get()
        try stage.task(1).respond(200, ["cache-control": "max-age=0", "content-length": "3"], body: "old")
        try stage.get(method: .head)
        try stage.task(2).respond(200, ["cache-control": "max-age=60", "content-length": "3"], body: "")
        try stage.get()
        #expect(stage.origin.tasks.count == 3)
    }

    @Test("HK-04: what a 304 says to a caller with a cookie is not stored for callers without one")
    func validationByAnotherCaller() throws {
        let stage = try CacheStage()
        let fields = ["cache-control": "max-age=0", "etag": "\"1\""]
        try stage.get()
        try stage.task(1).respond(200, fields, body: "stored")
        let known = try stage.get("/", ["cookie": "b"])
        try stage.task(2).respond(
            304, ["cache-control": "max-age=60", "etag": "\"1\"", "x-user": "b"], body: "")
        stage.turns()
        #expect(known.text == "stored" && known.heads.last?.fields.first("x-user") == "b")
        let other = try stage.get()
        #expect(stage.origin.tasks.count == 3)
        try stage.task(3).respond(304, fields, body: "")
        stage.turns()
        #expect(other.text == "stored" && other.heads.last?.fields.first("x-user") == nil)
    }

    @Test("CH-05: a handler that has not answered is not one that has refused")
    func pendingHandler() throws {
        let stage = try CacheStage()
        let caller = Caller()
        var proposal: CacheProposal?
        caller.decide = { proposal = $0 }
        try stage.get(caller: caller)
        try stage.task(1).respond(body: "x")
        #expect(caller.outcome?.reason == "handler_asked" && caller.outcome?.isStored == false)
        proposal?.decide(.store)
        let later = try stage.get()
        stage.turns()
        #expect(later.outcome?.status == .hit)
    }

    @Test("HV-09: a 304 for nothing that is stored makes the background wait too")
    func unmatchedValidation() throws {
        let stage = try CacheStage()
        try stage.get()
        try stage.task(1).respond(
            200, ["cache-control": "max-age=0, stale-while-revalidate=60", "etag": "\"1\""], body: "stored")
        try stage.get()
        try stage.task(2).respond(304, ["etag": "\"2\""], body: "")
        try stage.get()
        stage.turns()
        #expect(stage.origin.tasks.count == 2)
    }

    @Test("HX-05: a reader that has delivered nothing of a response that fails asks again")
    func failedBeforeDelivery() throws {
        let stage = try CacheStage()
        try stage.get()
        let waiting = try stage.get()
        try stage.task(1).head()
        try stage.task(1).body("half")
        try stage.task(1).end(TransportError(.timedOut, "the limit of the first", timeout: "resource"))
        #expect(stage.origin.tasks.count == 2)
        try stage.task(2).respond(body: "whole")
        stage.turns()
        #expect(waiting.isWhole && waiting.text == "whole")
    }

    @Test("HV-08: those that wait for an origin that fails get the stale response too")
    func staleForAll() throws {
        let stage = try CacheStage()
        let fields = ["cache-control": "max-age=0, stale-if-error=60", "etag": "\"1\""]
        try stage.get()
        try stage.task(1).respond(200, fields, body: "stored")
        let callers = try (0..<3).map { _ in try stage.get() }
        try stage.task(2).respond(503, [:], body: "")
        stage.turns()
        #expect(stage.origin.tasks.count == 2)
        #expect(callers.allSatisfy { $0.text == "stored" && $0.outcome?.reason == "stale_if_error" })
    }
}

/// What was removed lately.
struct RemovalLogTests {
    @Test("Removals concern what they name, and everything once there were too many") func removals() {
        var log = RemovalLog()
        let start = log.last
        var filter = StoreFilter()
        filter.prefix = "http://a/"
        log.note(filter, isPurge: false)
        #expect(log.concerns("http://a/x", since: start))
        #expect(!log.concerns("http://a/x", since: log.last))
        #expect(!log.concerns("http://a/x", since: start, purgesOnly: true))
        #expect(!log.concerns("http://b/x", since: start))
        for _ in 0..<300 { log.note(filter, isPurge: true) }
        #expect(log.concerns("http://b/x", since: start))
        #expect(!log.concerns("http://b/x", since: log.last - 1))
    }
}
