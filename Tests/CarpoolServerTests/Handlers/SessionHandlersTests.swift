import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import Testing

struct SessionHandlersTests {
    private let stage: Stage
    private let client = FakeClient()

    init() throws { stage = try Stage { $0.limits.sessions = 1 } }

    @Test("Creating one again changes nothing; another configuration under its name is refused")
    func create() throws {
        let params = #"{"name":"api","configuration":{"timeout_ms":5,"headers":{"Authorization":"Bearer x","A":"1"}}}"#
        #expect(try stage.call(client, "session.create", params)["changed"]?.bool == true)
        #expect(try stage.call(client, "session.create", params)["changed"]?.bool == false)
        #expect(try stage.refusal(client, "session.create", #"{"name":"api"}"#)["name"]?.string == "session.exists")
        #expect(try stage.refusal(client, "session.create", #"{"name":"third"}"#)["name"]?.string == "queue_full")
        let configuration = try #require(try stage.call(client, "session.get", #"{"session":"api"}"#)["configuration"])
        #expect(configuration["timeout_ms"]?.int == 5)
        #expect(configuration["headers"]?[index: 0]?[index: 1]?.string == "(hidden)")
        #expect(configuration["headers"]?[index: 1]?[index: 1]?.string == "1")
    }

    @Test(
        "Names", arguments: [("a", true), ("A-z_0.9", true), ("", false), ("a b", false), ("é", false), ("a/b", false)])
    func names(_ name: String, _ isName: Bool) throws {
        let answer = try client.answer(stage.send(client, "session.create", #"{"name":"\#(name)"}"#))
        #expect((answer["result"] != nil) == isName)
        if !isName { #expect(answer["error"]?["data"]?["path"]?.string == "params.name") }
    }

    @Test("An invalidated session is removed, its requests end as requested; default stays", arguments: [true, false])
    func invalidate(_ isCancelled: Bool) throws {
        _ = try stage.call(client, "session.create", #"{"name":"api"}"#)
        let entry = try stage.submit(client, #","session":"api""#)
        _ = try stage.call(
            client, "session.invalidate", #"{"session":"api","mode":"\#(isCancelled ? "cancel" : "finish")"}"#)
        #expect(try stage.refusal(client, "session.get", #"{"session":"api"}"#)["name"]?.string == "session.not_found")
        stage.endTurn()
        #expect(entry.request.error?.name == (isCancelled ? "session_invalidated" : nil))
        #expect(
            try stage.refusal(client, "session.invalidate", #"{"session":"default"}"#)["name"]?.string == "wrong_state")
    }

    @Test("A session that was invalidated is not kept by the connection that has created it")
    func invalidatedOfConnection() throws {
        _ = try stage.call(client, "session.create", #"{"name":"a","lifetime":"connection"}"#)
        weak let session = stage.server.sessions.table.entry("a", of: 1_000)?.session
        #expect(session != nil)
        _ = try stage.call(client, "session.invalidate", #"{"session":"a"}"#)
        _ = try stage.call(client, "session.create", #"{"name":"b","lifetime":"connection"}"#)
        #expect(session == nil)
    }
}
