import CarpoolHTTP
import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import Testing

struct EventPublisherTests {
    private let stage: Stage
    private let client = FakeClient()

    init() throws { stage = try Stage() }

    private func types(_ client: FakeClient) throws -> [String] { try client.told().compactMap { $0["type"]?.string } }

    @Test("Nothing is built before the first subscription, nor a while after the last one has ended")
    func nothingForNobody() throws {
        let publisher = stage.server.publisher
        _ = try stage.submit(client)
        publisher.publish(.requestDidFinish) { _ in Issue.record("built without a subscription") }
        #expect(publisher.built == 0)
        #expect(publisher.cursor == "\(stage.server.epoch).0")
        let name = try #require(
            try stage.call(client, "events.subscribe", #"{"types":["pool.*"],"scope":"all"}"#)["sub"]?.string)
        publisher.publish(.poolConnectionOpened)
        publisher.publish(.requestDidFinish)
        #expect(publisher.built == 2)
        #expect(try types(client) == ["pool.connection_opened"])
        _ = try stage.call(client, "events.unsubscribe", #"{"sub":"\#(name)"}"#)
        publisher.publish(.poolConnectionOpened)
        #expect(publisher.built == 3)
        publisher.stopRecording()
        publisher.publish(.requestDidFinish) { _ in Issue.record("built without a subscription") }
        #expect(publisher.journal.size == 0)
    }

    @Test("An event is encoded once for all subscriptions, and carries the id of each")
    func once() throws {
        let others = (2...4).map { FakeClient($0, name: "n\($0)") }
        for other in others {
            _ = try stage.call(other, "events.subscribe", #"{"scope":"all","types":["request.did_resume"]}"#)
        }
        let submitted = try stage.call(client, "request.submit", #"{"url":"http://me:word@127.0.0.1:1/"}"#)
        #expect(stage.server.publisher.built > 1)
        for (i, other) in others.enumerated() {
            let event = try #require(try other.told().first)
            #expect(event["sub"]?.string == "s\(i + 1)")
            #expect(event["request"]?.string == submitted["request"]?.string)
            #expect(event["client"]?.string == "c-1")
            #expect(event["session"]?.string == "default")
            #expect(event["attempt"]?.int == 1)
            #expect(event["data"]?["url"]?.string == "http://127.0.0.1:1/")
            #expect(event["cursor"]?.string == "\(stage.server.epoch).2")
        }
    }

    @Test("Events of a request that was dismissed still have their owner, and no other client gets them")
    func dismissed() throws {
        let other = FakeClient(2, name: "other")
        for client in [client, other] { _ = try stage.call(client, "events.subscribe", #"{"types":["request.*"]}"#) }
        let entry = try stage.submit(client)
        _ = try stage.call(client, "request.dismiss", #"{"request":"\#(entry.request.id)"}"#)
        stage.endTurn()
        #expect(try types(client).suffix(2) == ["request.did_finish", "request.did_parse_response"])
        #expect(try types(other).isEmpty)
    }

    @Test("An unsubscribed client gets no more events")
    func unsubscribed() throws {
        let name = try #require(try stage.call(client, "events.subscribe", #"{"types":["request.*"]}"#)["sub"]?.string)
        _ = try stage.call(client, "events.unsubscribe", #"{"sub":"\#(name)"}"#)
        _ = try stage.submit(client)
        #expect(try types(client).isEmpty)
        #expect(stage.server.publisher.subscriptions.count == 0)
        #expect(try stage.call(client, "events.unsubscribe", #"{"sub":"\#(name)"}"#)["changed"]?.bool == false)
    }

    @Test("An event fits its line with any URL and head of an origin or a client")
    func lines() throws {
        _ = try stage.call(client, "events.subscribe", #"{"types":["request.*","task.*"]}"#)
        let long = String(repeating: "é\\\"", count: 16_000)
        _ = try stage.call(client, "request.submit", #"{"url":"http://a.test/\#(long)"}"#)
        let entry = try stage.submit(client)
        let publisher = stage.server.publisher
        let head = ResponseHead.make(200, lines: [[UInt8]](repeating: Array("a: \"\"".utf8), count: 20_000))
        publisher.request(entry.request, taskDidReceive: head)
        publisher.request(
            entry.request, taskWillRedirectTo: try HTTPURL("http://a.test/" + String(repeating: "é", count: 30_000)))
        client.takeEvents()
        #expect(client.events.count > 8)
        for event in client.events {
            #expect(event.count < stage.server.limits.lineBytes)
            #expect(throws: Never.self) { try JSON.parse(event) }
        }
    }

    @Test("The last event of a request reports how it ended")
    func finish() throws {
        _ = try stage.call(client, "events.subscribe", #"{"types":["request.did_finish"]}"#)
        try stage.finish(try stage.submit(client), body: [1, 2, 3])
        let failed = try stage.submit(client)
        failed.request.cancel()
        stage.endTurn()
        let data = try client.told().compactMap { $0["data"] }
        #expect(data.map { $0["state"]?.string } == ["finished", "cancelled"])
        #expect(data.map { $0["ok"]?.bool } == [true, false])
        #expect(data[0]["size_bytes"]?.int == 3)
        #expect(data[0]["status"]?.int == 200)
        #expect(data[1]["error"]?["name"]?.string == "explicitly_cancelled")
    }

    @Test("A pattern that matches nothing is a mistake, and so is an unknown scope")
    func mistakes() throws {
        #expect(
            try stage.refusal(client, "events.subscribe", #"{"types":["request.*","reqest.*"]}"#)["path"]?.string
                == "params.types[1]")
        #expect(try stage.refusal(client, "events.subscribe", #"{"scope":"theirs"}"#)["path"]?.string == "params.scope")
        #expect(client.resources.subscriptions.count == 0)
    }
}
