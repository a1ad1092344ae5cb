import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import Testing

/// What the daemon reports when the journal drops events before they are read.
struct EventLossTests {
    private let stage: Stage
    private let client = FakeClient()
    private let flood = FakeClient(2, uid: 2_000, name: "flood")

    init() throws { stage = try Stage { $0.limits.journalBytes = 65_536 } }

    /// Evicts their oldest events by those of another user.
    private func pushOut() throws {
        let journal = { stage.server.publisher.journal }
        let last = journal().last
        for _ in 0..<2_000 where journal().lastEvicted(for: .user(2_000)) <= last { _ = try stage.submit(flood) }
        #expect(journal().lastEvicted(for: .user(2_000)) > last)
    }

    private func subscribe(_ types: String) throws {
        _ = try stage.call(client, "events.subscribe", #"{"types":["\#(types)"],"scope":"all"}"#)
        client.takesEvents = false
    }

    private func types() throws -> [String] {
        client.takesEvents = true
        return try client.told().compactMap { $0["type"]?.string }
    }

    @Test("B6: a subscription whose events are all kept has lost nothing, even if others were dropped")
    func nothingLost() throws {
        try subscribe("pool.*")
        stage.server.publisher.publish(.poolConnectionOpened)
        try pushOut()
        #expect(try types() == ["pool.connection_opened"])
    }

    @Test("B6: a subscription that waits for one of them has lost it")
    func lost() throws {
        try subscribe("request.did_*")
        _ = try stage.submit(flood)
        try pushOut()
        #expect(try types().first == "lagged")
    }

    @Test("A call whose events went before it was answered keeps its cursor, so that the next one reports the gap")
    func polls() throws {
        let publisher = stage.server.publisher
        let id = try stage.send(client, "events.next", #"{"types":["pool.*"],"scope":"all","timeout_ms":60000}"#)
        publisher.publish(.poolConnectionOpened)
        let cursor = publisher.cursor(at: publisher.journal.last - 1)
        try pushOut()
        stage.run { client.answers["\(id)"] != nil }
        let result = try #require(try client.answer(id)["result"])
        #expect(result["events"]?.count == 0)
        #expect(result["cursor"]?.string == cursor)
    }

    @Test("A call that has timed out has missed nothing, even if other events were dropped")
    func timeout() throws {
        let id = try stage.send(client, "events.next", #"{"types":["pool.*"],"scope":"all","timeout_ms":1000}"#)
        try pushOut()
        stage.run { client.answers["\(id)"] != nil }
        let result = try #require(try client.answer(id)["result"])
        #expect(result["events"]?.count == 0)
        #expect(result["cursor"]?.string == stage.server.publisher.cursor(at: stage.server.publisher.journal.last))
    }
}
