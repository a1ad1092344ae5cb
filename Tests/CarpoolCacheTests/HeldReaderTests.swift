import CarpoolHTTP
import Testing

@testable import CarpoolCache
@testable import CarpoolSystem

/// Callers that take nothing of a response that is there: the time of the whole request ends them.
struct HeldReaderTests {
    private let stage: CacheStage

    init() throws { stage = try CacheStage() }

    /// Sends a request whose caller takes nothing, with a time limit.
    private func hold(_ path: String = "/") throws -> Caller {
        let caller = Caller()
        caller.answer = .pause
        return try stage.get(path, resource: 50, caller: caller)
    }

    /// The caller ends at its limit, and no other timer is left.
    private func expectEnd(of caller: Caller) {
        let end = MonotonicTime.read().advanced(milliseconds: 20_000)
        while !caller.hasEnded, MonotonicTime.read() < end { stage.turns(1) }
        let error = caller.completion?.error
        #expect(error?.code == .timedOut && error?.timeout == "resource")
        #expect(error?.message == "not completed within 50 ms")
    }

    @Test("A fresh response", arguments: [true, false])
    func fresh(_ isPausedBefore: Bool) throws {
        try stage.get()
        try stage.task(1).respond(body: "stored")
        let caller = try hold()
        if isPausedBefore { caller.task?.pause() }
        expectEnd(of: caller)
        #expect(caller.heads.count == (isPausedBefore ? 0 : 1) && caller.bytes.isEmpty)
    }

    @Test("A stale response that is served at once")
    func stale() throws {
        try stage.get()
        try stage.task(1).respond(200, ["cache-control": "max-age=0, stale-while-revalidate=60"], body: "stored")
        expectEnd(of: try hold())
    }

    @Test("A response that the origin has confirmed")
    func revalidated() throws {
        try stage.get()
        try stage.task(1).respond(200, ["cache-control": "max-age=0", "etag": "\"1\""], body: "stored")
        let caller = try hold()
        try stage.task(2).respond(304, ["etag": "\"1\""], body: "")
        expectEnd(of: caller)
    }

    @Test("A stale response in place of a failure")
    func offline() throws {
        try stage.get()
        try stage.task(1).respond(200, ["cache-control": "max-age=0, stale-if-error=60"], body: "stored")
        let caller = try hold()
        try stage.task(2).end(TransportError(.cannotConnectToHost, "refused"))
        expectEnd(of: caller)
    }

    @Test("A shared response that is complete, also for the one whose request it was")
    func shared() throws {
        let (first, second) = (try hold(), try stage.get())
        try stage.task(1).head()
        stage.turns()
        try stage.task(1).body("shared")
        try stage.task(1).end()
        stage.turns()
        #expect(second.isWhole && !first.hasEnded)
        expectEnd(of: first)
    }

    @Test("One that continues in time gets the whole response, and may pause again")
    func resumed() throws {
        try stage.get()
        try stage.task(1).respond(body: "stored")
        let caller = Caller()
        caller.answer = .pause
        try stage.get(caller: caller)
        for _ in 0..<2 {
            stage.turns()
            #expect(!caller.hasEnded)
            caller.task?.resume()
        }
        caller.resume()
        stage.turns()
        #expect(caller.isWhole && caller.text == "stored")
    }
}
