import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import Testing

/// How a connection's subscriptions and calls process the events since its last turn.
struct EventListenerTests {
    private let stage: Stage
    private let client = FakeClient()

    init() throws { stage = try Stage() }

    private func subscribe(_ client: FakeClient, _ types: String, _ more: String = "") throws {
        _ = try stage.call(client, "events.subscribe", #"{"types":["\#(types)"],"scope":"all"\#(more)}"#)
    }

    @Test("An event is recorded for a connection, and filtered for its subscriptions in the connection's turn")
    func late() throws {
        let publisher = stage.server.publisher
        for types in ["pool.connection_opened", "pool.connection_closed"] { try subscribe(client, types) }
        let listener = try #require(publisher.listeners[client])
        publisher.publish(.requestDidFinish)
        #expect(!listener.isBehind)
        for _ in 0..<3 { publisher.publish(.poolConnectionOpened) }
        publisher.publish(.poolConnectionClosed)
        #expect(listener.isBehind && client.hasEvents)
        #expect(client.resources.subscriptions.values.allSatisfy { $0.queue.waiting == 0 })
        let told = try client.told()
        #expect(told.count == 4 && Set(told.compactMap { $0["sub"]?.string }).count == 2)
        #expect(!listener.isBehind && !listener.hasUnread)
    }

    @Test("A subscription gets no event from before it was made, even if that is filtered later")
    func newcomer() throws {
        let publisher = stage.server.publisher
        try subscribe(client, "pool.*")
        publisher.publish(.poolConnectionOpened)
        try subscribe(client, "pool.*")
        publisher.publish(.poolConnectionClosed)
        let told = try client.told()
        #expect(told.filter { $0["sub"]?.string == "s1" }.count == 2)
        #expect(
            told.filter { $0["sub"]?.string == "s2" }.compactMap { $0["type"]?.string } == ["pool.connection_closed"])
    }

    @Test("A client that does not read falls behind by its own events, and loses those beyond the limit")
    func overflow() throws {
        try subscribe(client, "pool.*")
        try subscribe(client, "pool.*", #","on_lag":"close""#)
        let publisher = stage.server.publisher
        publisher.limits.unreadEventBytes = 4_096
        client.takesEvents = false
        for _ in 0..<100 { publisher.publish(.poolConnectionOpened) }
        client.takesEvents = true
        let types = Set(try client.told().compactMap { $0["type"]?.string })
        #expect(types == ["lagged", "subscription.closed"])
        #expect(publisher.subscriptionCount == 1 && client.resources.subscriptions.count == 1)
    }

    @Test("A listener ends with its last subscription, and gets the events of the others until then")
    func leaving() throws {
        let publisher = stage.server.publisher
        for types in ["pool.*", "request.*", "session.*"] { try subscribe(client, types) }
        let listener = try #require(publisher.listeners[client])
        _ = try stage.call(client, "events.unsubscribe", #"{"sub":"s1"}"#)
        publisher.publish(.poolConnectionOpened)
        #expect(!listener.isBehind)
        publisher.publish(.sessionDidBecomeInvalid)
        #expect(listener.isBehind)
        #expect(try client.told().map { $0["sub"]?.string } == ["s3"])
        for name in ["s2", "s3"] { _ = try stage.call(client, "events.unsubscribe", #"{"sub":"\#(name)"}"#) }
        #expect(publisher.listeners.all.isEmpty && publisher.subscriptionCount == 0)
    }

    @Test("B6: the subscriptions of one client do not make those of another lose events")
    func looksOfOthers() throws {
        let stage = try Stage { $0.limits.journalBytes = 65_536 }
        let (crowd, flood) = (FakeClient(2, name: "crowd", role: .submit), FakeClient(3, name: "flood"))
        let waiting = #"{"types":["request.*","pool.*"],"scope":"session:other"}"#
        for _ in 0..<4_000 {
            crowd.resources.subscriptions = [:]
            _ = try stage.call(crowd, "events.subscribe", waiting)
        }
        _ = try stage.call(client, "events.subscribe", waiting)
        (crowd.takesEvents, client.takesEvents) = (false, false)
        let journal = { stage.server.publisher.journal }
        stage.server.publisher.publish(.poolConnectionOpened)
        let last = journal().last
        for _ in 0..<2_000 where journal().lastEvicted(for: .user(1_000)) <= last { _ = try stage.submit(flood) }
        #expect(journal().lastEvicted(for: .user(1_000)) > last)
        client.takesEvents = true
        #expect(try client.told().compactMap { $0["type"]?.string } == ["pool.connection_opened"])
    }
}
