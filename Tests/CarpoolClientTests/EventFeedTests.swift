import CarpoolJSON
import CarpoolSystem
import Testing

@testable import CarpoolClient

struct EventFeedTests {
    private static func soon() -> MonotonicTime { MonotonicTime.read().advanced(milliseconds: 10_000) }

    private func feed(_ daemon: FakeDaemon, cursors: @escaping (String?) -> Void = { _ in }) -> EventFeed {
        EventFeed(DaemonFinder(location: daemon.location), method: "events.subscribe") { writer, cursor in
            cursors(cursor)
            writer.beginObject()
            writer.endObject()
        }
    }

    private static func answer(_ cursor: String, _ events: String...) -> FakeDaemon.Reply {
        let lines = [#"{"jsonrpc":"2.0","id":1,"result":{"sub":"s1","cursor":"\#(cursor)"}}"#]
        let sent = events.map { #"{"jsonrpc":"2.0","method":"event","params":{"cursor":"\#($0)"}}"# }
        return .answer((lines + sent).map { $0 + "\n" }.joined())
    }

    @Test func aSubscriptionIsMadeAgainFromWhereItsReaderIs() throws {
        let daemon = try FakeDaemon([EventFeedTests.answer("a.1", "a.2", "a.3"), EventFeedTests.answer("a.2", "a.3")])
        var asked: [String?] = []
        let feed = feed(daemon) { asked.append($0) }
        var told: [String] = []
        while told.count < 6 {
            switch try feed.next(before: EventFeedTests.soon()) {
            case .subscribed(let answer): told.append("begun \(answer["cursor"]?.string ?? "")")
            case .event(let event):
                told.append(event["cursor"]?.string ?? "")
                if told.count == 2 { feed.cursor = "a.2" }
            case .lost: told.append("lost")
            case .nothing: continue
            }
        }
        #expect(told == ["begun a.1", "a.2", "a.3", "lost", "begun a.2", "a.3"])
        #expect(asked == [nil, "a.2"])
    }

    @Test func aDaemonThatEndsJustNowIsFollowedByItsSuccessor() throws {
        let daemon = try FakeDaemon([.leave, EventFeedTests.answer("a.1")])
        let feed = feed(daemon)
        while true {
            guard case .subscribed = try feed.next(before: EventFeedTests.soon()) else { continue }
            break
        }
    }

    @Test func aDaemonThatNeverAnswersIsNotWaitedFor() throws {
        let daemon = try FakeDaemon([.leave, .leave])
        let feed = feed(daemon)
        let error = #expect(throws: ClientError.self) {
            while true { _ = try feed.next(before: EventFeedTests.soon()) }
        }
        switch error {
        case .disconnected, .unread: break
        default: Issue.record("\(String(describing: error))")
        }
    }

    @Test func aRefusalEndsIt() throws {
        let daemon = try FakeDaemon([.answer(#"{"id":1,"error":{"code":-32602,"message":"no cursor"}}"# + "\n")])
        let feed = feed(daemon)
        let error = #expect(throws: ClientError.self) { _ = try feed.next(before: EventFeedTests.soon()) }
        #expect(error == .refused(RemoteError(code: -32_602, message: "no cursor", name: nil, hint: nil)))
    }

    @Test func pausesGrowToASecond() {
        var backoff = ReconnectBackoff()
        let pauses = (0..<8).map { _ in backoff.next() }
        #expect(pauses == [20, 40, 80, 160, 320, 640, 1_000, 1_000])
    }
}
