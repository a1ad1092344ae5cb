import CarpoolHTTP
import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import CarpoolSystem
import Testing

/// F-12, D-21: a client that is late, dies or sends an invalid answer never blocks a request.
struct CallbackBrokerTests {
    private let scene: CallbackStage
    private var stage: Stage { scene.stage }
    private var peer: Peer { scene.peer }
    private var broker: CallbackBroker { scene.broker }

    init() throws { scene = try CallbackStage() }

    /// The results that a validator received.
    private final class Verdict {
        var errors: [SessionError?] = []
        var reason: String? { (errors.last ?? nil)?.text("reason") }
    }

    private func validate(
        _ more: String = "", ofSession: Bool = false, on request: Request? = nil
    ) throws -> Verdict {
        let verdict = Verdict()
        try scene.parts(ofSession: ofSession).validator(CallbackStage.callback(more), path: "v")
            .validate(request ?? scene.request) { verdict.errors.append($0) }
        return verdict
    }

    private func hello(_ peer: Peer, _ names: String) {
        peer.write(
            #"{"jsonrpc":"2.0","id":"h","method":"client.hello","params":{"callbacks":\#(names)}}"# + "\n")
    }

    @Test(
        "An answer that is no response of JSON-RPC fails the callback at once",
        arguments: [
            #""result":{"valid":true},"error":{"code":1,"message":"no"}"#, #""extra":1"#,
            #""result":{"valid":true},"result":{"valid":true}"#,
        ])
    func noResponse(members: String) throws {
        let verdict = try validate()
        _ = try scene.question()
        peer.write(#"{"jsonrpc":"2.0","id":"cb_1",\#(members)}"# + "\n")
        #expect(verdict.errors.count == 1)
        #expect(verdict.reason == "invalid_answer")
        peer.write(#"{"id":"cb_1","result":{"valid":true}}"# + "\n")
        #expect(verdict.errors.count == 1)
    }

    @Test("The caller gets the callback, and its answer counts once")
    func asks() throws {
        let verdict = try validate(#","deadline_ms":2500"#)
        let question = try scene.question()
        #expect(question["jsonrpc"]?.string == "2.0")
        #expect(question["id"]?.string == "cb_1")
        #expect(question["method"]?.string == "callback.validate")
        let params = try #require(question["params"])
        #expect(params["callback"]?.string == "sign")
        #expect(params["session"]?.string == "default")
        #expect(params["request"]?.string == scene.request.id)
        #expect(params["attempt"]?.int == 1)
        #expect(params["deadline_ms"]?.int == 2_500)
        #expect(verdict.errors.isEmpty)
        scene.answer(1, #"{"valid":true}"#)
        scene.answer(1, #"{"valid":false}"#)
        #expect(verdict.errors.count == 1)
        #expect(verdict.errors[0] == nil)
        #expect(broker.statistics.ignored == 1)
        #expect(broker.statistics.answered == 1)
        #expect(try peer.answers().isEmpty, "an answer is not answered")
    }

    @Test("Answers of other clients, and answers to unknown callbacks, are ignored and counted")
    func strangers() throws {
        let verdict = try validate()
        let stranger = try Peer(stage)
        scene.answer(1, #"{"valid":false}"#, from: stranger)
        for id in [#""cb_01""#, #""cb_+1""#, #""cb_2""#, #""1""#, "1", "null"] {
            peer.write(#"{"jsonrpc":"2.0","id":\#(id),"result":{"valid":false}}"# + "\n")
        }
        #expect(verdict.errors.isEmpty)
        #expect(broker.statistics.ignored == 7)
        #expect(broker.count == 1)
    }

    @Test("Answers are read in batches and in other framings")
    func framings() throws {
        let (first, second) = (try validate(), try validate())
        peer.write(
            "[\(CallbackStage.response(1, #"{"valid":true}"#)),\(CallbackStage.response(2, #"{"valid":true}"#))]\n")
        #expect(first.errors.count == 1 && second.errors.count == 1)
        #expect(peer.read().count { $0 == 0x0A } == 2, "the two callbacks, and no answer to the batch")
        let framed = try Peer(stage)
        let ping = #"{"jsonrpc":"2.0","id":1,"method":"daemon.ping"}"#
        framed.write("Content-Length: \(ping.utf8.count)\r\n\r\n\(ping)")
        let third = Verdict()
        try ClientCallbackFactory(
            broker: broker, origin: framed.connection.number, client: FakeClient().identity,
            worker: stage.server.worker.access(for: .process)
        )
        .validator(CallbackStage.callback(), path: "v").validate(scene.request) { third.errors.append($0) }
        framed.endTurn()
        #expect(String(decoding: framed.read(), as: UTF8.self).contains("Content-Length:"))
        let answer = CallbackStage.response(3, #"{"valid":true}"#)
        framed.write("Content-Length: \(answer.utf8.count)\r\n\r\n\(answer)")
        #expect(third.errors.count == 1)
    }

    @Test("Answers are read when the connection has its maximum of open calls")
    func fullConnection() throws {
        let scene = try CallbackStage { $0.limits.callsPerConnection = 1 }
        scene.peer.write(
            #"{"jsonrpc":"2.0","id":1,"method":"request.perform","params":{"url":"http://127.0.0.1:1/"}}"# + "\n")
        #expect(scene.peer.connection.callsUnderWay == 1)
        let verdict = Verdict()
        try scene.parts().validator(CallbackStage.callback(), path: "v").validate(scene.request) {
            verdict.errors.append($0)
        }
        scene.answer(1, #"{"valid":true}"#)
        #expect(verdict.errors.count == 1)
    }

    @Test("A late answer does not count: the deadline has ended the callback")
    func late() throws {
        let verdict = try validate(#","deadline_ms":1"#)
        stage.run { !verdict.errors.isEmpty }
        #expect(verdict.reason == "timed_out")
        #expect(verdict.errors[0]?.name == "callback_failed")
        scene.answer(1, #"{"valid":true}"#)
        #expect(verdict.errors.count == 1)
        #expect(broker.statistics.ignored == 1)
    }

    @Test("An error is a failure with the client's message")
    func errorAnswer() throws {
        let verdict = try validate()
        peer.write(
            #"{"jsonrpc":"2.0","id":"cb_1","error":{"code":-32603,"message":"\#(String(repeating: "é", count: 2_000))"}}"#
                + "\n")
        #expect(verdict.reason == "error")
        let message = try #require(verdict.errors[0]?.text("message"))
        #expect(message.hasPrefix("éé") && message.utf8.count < 1_100)
    }

    @Test(
        "An answer that does not fit the callback fails it, and the failure names the mistake",
        arguments: [
            ("{}", "result.valid"), (#"{"valid":1}"#, "result.valid"), ("null", "result"), ("[true]", "result"),
            (#"{"valid":true,"massage":"x"}"#, "did you mean message"),
        ])
    func rubbish(_ answer: String, _ words: String) throws {
        let verdict = try validate()
        scene.answer(1, answer)
        #expect(verdict.reason == "invalid_answer")
        #expect(verdict.errors[0]?.message.contains(words) == true)
        #expect(broker.statistics.failed == 1 && broker.statistics.answered == 0)
    }

    // MARK: Which client answers

    @Test("A client that dies inside a callback fails it at once")
    func disconnects() throws {
        let verdict = try validate()
        peer.disconnect()
        #expect(verdict.reason == "disconnected")
        #expect(broker.count == 0)
    }

    @Test("Another client of the same user that has declared the name takes its place, within the same deadline")
    func moves() throws {
        let other = try Peer(stage)
        hello(other, #"["sign"]"#)
        _ = try other.answers()
        let verdict = try validate()
        peer.disconnect()
        #expect(verdict.errors.isEmpty)
        let question = try scene.question(other)
        #expect(question["id"]?.string == "cb_1")
        #expect((1...10_000).contains(question["params"]?["deadline_ms"]?.int ?? 0))
        scene.answer(1, #"{"valid":true}"#, from: other)
        #expect(verdict.errors.count == 1 && verdict.errors[0] == nil)
    }

    @Test("A session's callback is answered only by the newest client that has declared it")
    func session() throws {
        #expect(try validate(ofSession: true).reason == "no_responder", "its maker has not declared it")
        let (old, new, foreign) = (try Peer(stage), try Peer(stage), try Peer(stage, uid: 7))
        for client in [old, new, foreign] {
            hello(client, #"["sign","other"]"#)
            _ = try client.answers()
        }
        _ = try validate(ofSession: true)
        #expect(try scene.question(new)["params"]?["callback"]?.string == "sign")
        hello(new, "[]")
        _ = try validate(ofSession: true)
        #expect(try scene.questions(old).count == 1)
        #expect(try scene.questions(foreign).isEmpty, "another user's callbacks are not sent to this client")
    }

    @Test("A client that has shut down its side cannot answer")
    func halfClosed() throws {
        peer.write(
            #"{"jsonrpc":"2.0","id":1,"method":"request.perform","params":{"url":"http://127.0.0.1:1/"}}"# + "\n")
        let before = try validate()
        peer.shutdownWriting()
        #expect(!peer.connection.isClosed)
        #expect(before.reason == "disconnected")
        #expect(try validate().reason == "no_responder")
    }

    @Test("An answer before a half-close counts, with or without a line end")
    func lastWord() throws {
        let verdict = try validate()
        peer.write(String(CallbackStage.response(1, #"{"valid":true}"#).dropLast()), turn: false)
        peer.shutdownWriting(turn: false)
        while !peer.connection.isClosed {
            peer.becomeReadable()
            peer.endTurn()
        }
        #expect(verdict.errors.count == 1 && verdict.errors[0] == nil)
    }

    @Test("A client that does not read gets no callback")
    func unread() throws {
        let scene = try CallbackStage { $0.limits.unreadBytes = 65_536 }
        let ask = #"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"# + "\n"
        scene.peer.write(String(repeating: ask, count: 40))
        #expect(scene.peer.connection.unreadBytes > 65_536)
        var error: SessionError?
        try scene.parts().validator(CallbackStage.callback(), path: "v").validate(scene.request) { error = $0 }
        #expect(error?.text("reason") == "no_responder")
    }

    @Test("The number of open callbacks is bounded, for a client and in all")
    func bounds() throws {
        let scene = try CallbackStage { $0.limits.callbacksPerConnection = 2 }
        var reasons: [String?] = []
        for _ in 0..<3 {
            try scene.parts().validator(CallbackStage.callback(), path: "v").validate(scene.request) {
                reasons.append($0?.text("reason"))
            }
        }
        #expect(reasons == ["too_many"])
        #expect(scene.broker.count == 2)
    }

    @Test("When the request ends, the answer is ignored")
    func dropped() throws {
        let verdict = try validate()
        scene.request.cancel()
        stage.endTurn()
        #expect(scene.request.isFinished)
        #expect(broker.count == 0)
        scene.answer(1, #"{"valid":false}"#)
        #expect(verdict.errors.isEmpty)
        #expect(broker.statistics.ignored == 1)
    }

    @Test("An open callback holds neither the connection nor the request")
    func noLeak() throws {
        weak var connection: Connection?
        weak var request: Request?
        do {
            let asked = try Peer(stage)
            let entry = try stage.submit(FakeClient(98))
            try ClientCallbackFactory(
                broker: broker, origin: asked.connection.number, client: FakeClient().identity,
                worker: stage.server.worker.access(for: .process)
            )
            .validator(CallbackStage.callback(), path: "v").validate(entry.request) { _ in }
            (connection, request) = (asked.connection, entry.request)
            asked.disconnect()
            entry.request.cancel()
            stage.endTurn()
            stage.server.requests.dismiss(entry, keepingBody: false)
        }
        stage.run { connection == nil && request == nil || stage.loop.turns > 100 }
        let isLeft = (connection: connection != nil, request: request != nil)
        #expect(!isLeft.connection)
        #expect(!isLeft.request)
    }

    // MARK: What is reported

    @Test("client.list reports the names, daemon.stats the counts, and an empty name is refused")
    func told() throws {
        hello(peer, #"["b","a","a"]"#)
        let client = FakeClient(50)
        let clients = try #require(try stage.call(client, "client.list")["clients"])
        let names = try #require(clients[index: 0]?["callbacks"])
        #expect((0..<names.count).map { names[index: $0]?.string } == ["a", "b"])
        _ = try validate()
        let stats = try #require(try stage.call(client, "daemon.stats")["callbacks"])
        #expect(stats["waiting"]?.int == 1 && stats["asked"]?.int == 1 && stats["ignored"]?.int == 0)
        let refusal = try stage.refusal(client, "client.hello", #"{"name":"x","callbacks":["a",""]}"#)
        #expect(refusal["path"]?.string == "params.callbacks[1]")
        #expect(client.displayName == "tester", "nothing was changed")
    }
}
