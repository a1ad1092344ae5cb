import CarpoolHTTP
import Testing

@testable import CarpoolCache
@testable import CarpoolSystem

/// Requests through a store in memory.
struct CachingTransportTests {
    @Test("CH-01: a fresh response is served without the origin")
    func hits() throws {
        let stage = try CacheStage()
        try stage.get()
        try stage.task(1).respond(body: "stored")
        let second = try stage.get()
        #expect(second.task?.needsNetwork == false)
        #expect(second.heads.isEmpty, "nothing is delivered from inside start")
        stage.turns()
        #expect(second.isWhole && second.text == "stored")
        #expect(second.heads.first?.isStored == true)
        #expect(second.outcome?.status == .hit && second.outcome?.reason == "fresh")
        #expect(second.completion?.metrics.connection == nil)
        #expect(stage.origin.tasks.count == 1)
    }

    @Test("A request without a cache is passed on as it is")
    func withoutCache() throws {
        let stage = try CacheStage()
        let caller = Caller()
        let request = TransportRequest(method: .get, url: try HTTPURL("http://origin.test/"))
        caller.task = stage.transport.start(request, delegate: caller)
        #expect(caller.task is OriginTask)
    }

    @Test("A large stored body arrives whole, in pieces of at most 16 KiB, over several turns; a pause holds it")
    func largeHits() throws {
        let stage = try CacheStage()
        let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        try stage.get()
        try stage.task(1).head()
        for start in stride(from: 0, to: bytes.count, by: 16_384) {
            try stage.task(1).body(Array(bytes[start..<min(bytes.count, start + 16_384)]))
        }
        try stage.task(1).end()
        let second = try stage.get()
        second.answer = .pause
        stage.turns()
        #expect(second.heads.count == 1 && second.bytes.isEmpty && !second.hasEnded)
        second.resume()
        stage.turns(20)
        #expect(second.isWhole && second.bytes == bytes)
    }

    @Test("HP-04: return_cache_dont_load fails without a stored response, and the origin is not asked")
    func offline() throws {
        let stage = try CacheStage()
        let caller = try stage.get { $0.policy = .returnCacheDontLoad }
        stage.turns()
        #expect(caller.completion?.error?.code == .resourceUnavailable)
        #expect(caller.heads.isEmpty && stage.origin.tasks.isEmpty)
    }

    @Test("HV-02: a 304 serves the stored body; the caller gets a 200")
    func validation() throws {
        let stage = try CacheStage()
        try stage.get()
        try stage.task(1).respond(200, ["cache-control": "max-age=0", "etag": "\"1\""], body: "stored")
        let second = try stage.get()
        #expect(try stage.task(2).request.fields.contains { $0.isNamed("if-none-match") && $0.value == "\"1\"" })
        try stage.task(2).respond(304, ["cache-control": "max-age=60", "etag": "\"1\""], body: "")
        stage.turns()
        #expect(second.isWhole && second.status == 200 && second.text == "stored")
        #expect(second.outcome?.status == .revalidated)
        #expect(second.completion?.metrics.connection == 2)
        let third = try stage.get()
        stage.turns()
        #expect(third.outcome?.status == .hit)
    }

    @Test("A cancelled validation completes as cancelled, also after the 304")
    func cancelledValidation() throws {
        let stage = try CacheStage()
        try stage.get()
        try stage.task(1).respond(200, ["cache-control": "max-age=0", "etag": "\"1\""], body: "stored")
        let second = try stage.get()
        try stage.task(2).head(304, ["etag": "\"1\""])
        second.task?.cancel()
        try stage.task(2).endCancelled()
        stage.turns()
        #expect(second.completion?.error?.code == .cancelled && second.heads.isEmpty)
    }

    @Test("HV-08: a failing origin is replaced by the stale response where it may be")
    func staleIfError() throws {
        let stage = try CacheStage()
        let fields = ["cache-control": "max-age=0, stale-if-error=60", "etag": "\"1\""]
        try stage.get()
        try stage.task(1).respond(200, fields, body: "stored")
        let lost = try stage.get()
        try stage.task(2).end(TransportError(.cannotConnectToHost, "refused"))
        let failed = try stage.get()
        try stage.task(3).head(503, [:])
        try stage.task(3).body("sorry")
        try stage.task(3).end()
        stage.turns()
        for caller in [lost, failed] {
            #expect(caller.isWhole && caller.status == 200 && caller.text == "stored")
            #expect(caller.outcome?.status == .stale && caller.outcome?.reason == "stale_if_error")
        }
    }

    @Test(
        "HV-09: a stale response is served at once; one request in the background updates it, with pauses after failures"
    )
    func staleWhileRevalidate() throws {
        let stage = try CacheStage()
        let fields = ["cache-control": "max-age=0, stale-while-revalidate=60", "etag": "\"1\""]
        try stage.get()
        try stage.task(1).respond(200, fields, body: "stored")
        let callers = try (0..<3).map { _ in try stage.get() }
        stage.turns()
        #expect(callers.allSatisfy { $0.isWhole && $0.text == "stored" && $0.outcome?.status == .stale })
        #expect(stage.origin.tasks.count == 2)
        #expect(try stage.task(2).request.priority == .low)
        try stage.task(2).end(TransportError(.networkConnectionLost, "lost"))
        try stage.get()
        stage.turns()
        #expect(stage.origin.tasks.count == 2, "a pause follows the failure")
    }

    @Test("HV-09: the background's 200 replaces the stored response")
    func backgroundUpdates() throws {
        let stage = try CacheStage()
        try stage.get()
        try stage.task(1).respond(
            200, ["cache-control": "max-age=0, stale-while-revalidate=60", "etag": "\"1\""], body: "old")
        try stage.get()
        try stage.task(2).respond(200, ["cache-control": "max-age=60", "etag": "\"2\""], body: "new")
        let third = try stage.get()
        stage.turns()
        #expect(third.text == "new" && third.outcome?.status == .hit)
    }

    @Test("HV-09: when the process is about to end, validations in the background are cancelled, and no more begin")
    func backgroundEnds() throws {
        let stage = try CacheStage()
        let fields = ["cache-control": "max-age=0, stale-while-revalidate=60", "etag": "\"1\""]
        for number in 1...2 {
            try stage.get("/\(number)")
            try stage.task(number).respond(200, fields, body: "stored")
        }
        try stage.get("/1")
        let last = try stage.task(3)
        stage.transport.endValidations()
        #expect(last.isCancelled)
        last.endCancelled()
        let caller = try stage.get("/2")
        stage.turns()
        #expect(caller.text == "stored" && stage.origin.tasks.count == 3)
    }

    @Test("HI-01: an unsafe request invalidates; HI-02: one that fails does not")
    func invalidation() throws {
        let stage = try CacheStage()
        try stage.get()
        try stage.task(1).respond(body: "old")
        try stage.get(method: .post)
        try stage.task(2).respond(500, [:], body: "")
        #expect(try stage.get().task?.needsNetwork == false)
        try stage.get(method: .post)
        try stage.task(3).respond(204, [:], body: "")
        #expect(try stage.get().task?.needsNetwork == true)
    }

    @Test("A purge while a response arrives: it is delivered and not stored")
    func purgedWhileUnderWay() throws {
        let stage = try CacheStage()
        let caller = try stage.get()
        try stage.task(1).head()
        stage.stores.purge(of: nil, nil, StoreFilter(), .remove) { _ in }
        stage.turns()
        try stage.task(1).body("late")
        try stage.task(1).end()
        stage.turns()
        #expect(caller.isWhole && caller.text == "late")
        #expect(try stage.get().task?.needsNetwork == true)
    }

    @Test("CH-02, CH-03: the delegate decides what is stored, also later")
    func decisions() throws {
        let stage = try CacheStage()
        let refusing = Caller()
        refusing.decide = { $0.decide(.doNotStore) }
        try stage.get("/no", caller: refusing)
        try stage.task(1).respond(body: "x")
        #expect(refusing.proposals == 1 && refusing.outcome?.isStored == false)
        #expect(try stage.get("/no").task?.needsNetwork == true)

        var waiting: CacheProposal?
        let later = Caller()
        later.decide = { waiting = $0 }
        try stage.get("/later", caller: later)
        try stage.task(3).respond(body: "original")
        #expect(later.isWhole, "the request does not wait for the decision")
        #expect(try stage.get("/later").task?.needsNetwork == true)
        let field = try HTTPField(name: "X-Kept", value: "yes")
        waiting?.decide(.modify(setting: [field], body: Array("changed".utf8), ttlMilliseconds: 60_000))
        waiting = nil
        let hit = try stage.get("/later")
        stage.turns()
        #expect(hit.text == "changed" && hit.heads.first?.fields.first("x-kept") == "yes")

        let forgetful = Caller()
        forgetful.decide = { _ in }
        try stage.get("/forgotten", caller: forgetful)
        try stage.task(stage.origin.tasks.count).respond(body: "x")
        #expect(try stage.get("/forgotten").task?.needsNetwork == true)
    }

    @Test("HC-08: a response larger than its maximum, or cut, is not stored")
    func whatIsNotStored() throws {
        let stage = try CacheStage()
        var settings = CacheStage.inMemory
        settings.maximumEntryBytes = 4
        try stage.get("/large", settings: settings)
        try stage.task(1).respond(body: "12345")
        #expect(try stage.get("/large", settings: settings).task?.needsNetwork == true)
        try stage.get("/cut")
        try stage.task(3).head()
        try stage.task(3).body("half")
        try stage.task(3).end(TransportError(.networkConnectionLost, "cut"))
        #expect(try stage.get("/cut").task?.needsNetwork == true)
    }

    @Test("A suspended request gets its stored response when it is resumed")
    func pausedHits() throws {
        let stage = try CacheStage()
        try stage.get()
        try stage.task(1).respond(body: "stored")
        let second = try stage.get()
        second.task?.pause()
        stage.turns()
        #expect(!second.hasEnded && second.bytes.isEmpty)
        second.task?.resume()
        stage.turns()
        #expect(second.isWhole)
        let third = try stage.get()
        third.task?.cancel()
        stage.turns()
        #expect(third.completion?.error?.code == .cancelled && third.heads.isEmpty)
    }
}
