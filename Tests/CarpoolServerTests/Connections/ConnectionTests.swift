import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import CarpoolSystem
import Glibc
import Testing

struct ConnectionTests {
    private let stage: Stage
    private var server: Server { stage.server }

    init() throws { stage = try Stage() }

    private func connect(role: Role = .admin, uid: UInt32 = 1_000) throws -> Peer {
        try Peer(stage, role: role, uid: uid)
    }

    private static func submit(_ id: Int) -> String { call(id, "request.submit") }
    private static func perform(_ id: Int, _ more: String = "") -> String { call(id, "request.perform", more) }
    private static func call(_ id: Int, _ method: String, _ more: String = "") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":{"url":"http://127.0.0.1:1/"\#(more)}}"#
    }
    private static let ping = #"{"jsonrpc":"2.0","id":"p","method":"daemon.ping"}"#

    @Test("Nothing is sent before a call; calls are answered by id")
    func calls() throws {
        let peer = try connect()
        #expect(peer.read().isEmpty)
        peer.write(Self.ping + "\n")
        let answers = try peer.answers()
        #expect(answers.count == 1)
        #expect(answers[0]["id"]?.string == "p")
        #expect(answers[0]["result"]?["pong"]?.bool == true)
        #expect(peer.connection.callCount == 1)
        #expect(peer.connection.callsUnderWay == 0)
    }

    // MARK: Ids

    @Test("A call with the id of an open call is refused, and the other stays open", arguments: [true, false])
    func duplicates(_ isBatch: Bool) throws {
        let peer = try connect()
        let (first, second) = (Self.perform(1), Self.ping.replacing(#""p""#, with: "1"))
        peer.write(isBatch ? "[\(first),\(second)]\n" : "\(first)\n\(second)\n")
        if !isBatch { #expect(try peer.answers().map { $0["error"]?["data"]?["name"]?.string } == ["duplicate_id"]) }
        #expect(peer.connection.callsUnderWay == 1, "the first one is still there")
        peer.shutdownWriting()
        #expect(!peer.connection.isClosed, "a client that has half-closed waits for its answers")
        try stage.finish(try #require(server.requests.registry.underWay.first))
        var answers = try peer.answers()
        if isBatch { answers = (0..<answers[0].count).compactMap { answers[0][index: $0] } }
        #expect(answers.contains { $0["result"]?["outcome"]?["ok"]?.bool == true })
        #expect(peer.connection.isClosed)
        #expect(peer.readsEndOfFile())
    }

    @Test("A batch may cancel its own calls")
    func cancelInABatch() throws {
        let peer = try connect()
        peer.write(#"[\#(Self.perform(1)),{"jsonrpc":"2.0","id":2,"method":"rpc.cancel","params":{"id":1}}]"# + "\n")
        let batch = try #require(try peer.answers().first)
        #expect(batch.count == 2)
        #expect(batch[index: 0]?["error"]?["code"]?.int == -32_800)
        #expect(batch[index: 1]?["result"]?["changed"]?.bool == true)
        #expect(server.requests.registry.active == 1)
    }

    // MARK: The end of a connection

    @Test("Requests that end with their connection are cancelled and dropped; the others are kept")
    func disconnect() throws {
        let peer = try connect()
        peer.write(
            Self.perform(1) + "\n" + Self.perform(2, #","on_disconnect":"detach""#) + "\n" + Self.submit(3) + "\n")
        peer.write(Self.call(4, "request.submit", #","on_disconnect":"cancel""#) + "\n")
        let entries = server.requests.registry.underWay.sorted { $0.sequence < $1.sequence }
        #expect(entries.count == 4)
        peer.disconnect()
        #expect(peer.connection.isClosed)
        stage.endTurn()
        #expect(entries.map { $0.request.state } == [.cancelled, .resumed, .resumed, .cancelled])
        #expect(entries.map { server.requests.registry[$0.request.id] != nil } == [false, true, true, true])
        for entry in entries[1...2] { try stage.finish(entry) }
        #expect(server.requests.registry.count == 3, "no call was answered, so these can be fetched")
        #expect(server.requests.registry.expired(at: .max, server.limits).count == 3, "and expire")
        #expect(server.connections.isEmpty)
    }

    @Test("A client learns whether its last message was read when the daemon closes the connection")
    func unreadMessages() throws {
        let peer = try connect()
        peer.write(Self.ping + "\n")
        peer.connection.close()
        _ = peer.read()
        #expect(peer.readsEndOfFile())
        let peers = try (0..<10).map { _ in try connect() }
        for peer in peers {
            peer.write(Self.ping + "\n", turn: false)
            peer.connection.close()
            #expect(peer.ending() != .end, "the end would say that the message was read")
        }
        let deadline = MonotonicTime.read().advanced(milliseconds: 20_000)
        stage.run { peers.allSatisfy { $0.ending() != .none } || .read() > deadline }
        #expect(peers.allSatisfy { $0.ending() == .reset })
    }

    @Test("Calls written before the connection broke are still carried out")
    func lastWords() throws {
        let peer = try connect()
        peer.write(Self.submit(1), turn: false)
        peer.disconnect()
        #expect(server.requests.registry.count == 1)
    }

    @Test("A closed connection is held by nothing")
    func noLeak() throws {
        weak var connection: Connection?
        do {
            let peer = try connect()
            peer.write(#"{"jsonrpc":"2.0","id":9,"method":"events.subscribe"}"# + "\n")
            let call = "\(Self.perform(1))\n[\(Self.perform(2)),\(Self.perform(3))]\n"
            peer.write(call)
            peer.write(#"{"jsonrpc":"2.0","method":"request.perform","params":{"url":"http://127.0.0.1:1/"}}"# + "\n")
            connection = peer.connection
            peer.disconnect()
        }
        stage.run { connection == nil || server.loop.turns > 100 }
        #expect(connection == nil)
        #expect(server.requests.registry.count == 0)
        #expect(server.publisher.subscriptions.count == 0)
    }

    @Test("A subscription keeps a half-closed connection open")
    func halfClosed() throws {
        let peer = try connect()
        peer.write(#"{"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{"types":["pool.*"]}}"# + "\n")
        peer.shutdownWriting()
        _ = peer.read()
        #expect(!peer.connection.isClosed)
        server.publisher.publish(.poolConnectionOpened)
        peer.endTurn()
        #expect(try peer.answers().first?["method"]?.string == "event")
    }

    @Test("A connection that is being closed gets its answers, and its requests end")
    func shownOut() throws {
        let peer = try connect()
        // One after the other: a slow machine reads only the first of two in one go.
        for line in [Self.perform(1), Self.ping] {
            peer.write(line + "\n", turn: false)
            peer.becomeReadable()
        }
        peer.connection.closeAfterFlush()
        #expect(server.requests.registry.underWay.allSatisfy { $0.request.state == .cancelled })
        peer.endTurn()
        #expect(try peer.answers().map { $0["id"]?.string } == ["p"])
        #expect(peer.connection.isClosed)
        #expect(peer.readsEndOfFile())
        stage.endTurn()
        #expect(server.requests.registry.count == 0)
    }

    @Test("A client may close its own connection by a call")
    func disconnectsItself() throws {
        let peer = try connect()
        peer.write(
            #"{"jsonrpc":"2.0","id":1,"method":"client.disconnect","params":{"client":"c-\#(peer.connection.number)"}}"#
                + "\n")
        stage.run { peer.connection.isClosed }
        #expect(try peer.answers().first?["result"]?["changed"]?.bool == true)
        #expect(peer.connection.isClosed)
    }

    @Test("A client that reads nothing is disconnected all the same")
    func shownOutWithoutReading() throws {
        let peer = try connect()
        peer.write(String(repeating: #"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"# + "\n", count: 40))
        #expect(peer.connection.unreadBytes > 0)
        peer.connection.beginClosing()
        stage.run { peer.connection.isClosed }
    }

    // MARK: Backpressure

    @Test("A client that does not read is not read from, and is answered in full when it does")
    func unreadAnswers() throws {
        let stage = try Stage { $0.limits.unreadBytes = 65_536 }
        let peer = try Peer(stage)
        let count = 200
        for id in 0..<count {
            peer.write(#"{"jsonrpc":"2.0","id":\#(id),"method":"rpc.discover"}"# + "\n", turn: false)
        }
        peer.becomeReadable()
        peer.endTurn()
        #expect(peer.connection.callCount < 20, "the rest waits in the framer")
        peer.shutdownWriting(turn: false)
        var (answers, most) = (0, 0)
        stage.run {
            most = max(most, peer.connection.unreadBytes)
            answers += peer.read().count { $0 == 0x0A }
            return peer.connection.isClosed
        }
        #expect(answers == count)
        #expect(most < 1_000_000)
    }

    @Test("Events that are not read are dropped, answers are not, and the client gets a lagged event")
    func lag() throws {
        let stage = try Stage { $0.limits.unreadEventBytes = 65_536 }
        let peer = try Peer(stage)
        peer.write(#"{"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{"types":["pool.*"]}}"# + "\n")
        let count = 5_000
        for _ in 0..<count {
            stage.server.publisher.publish(.poolConnectionOpened) {
                $0.member("origin", String(repeating: "x", count: 100))
            }
        }
        peer.write(Self.ping + "\n")
        var messages: [JSON] = []
        while !messages.contains(where: { $0["id"]?.string == "p" }) {
            messages += try peer.answers()
            peer.becomeWritable()
            peer.endTurn()
        }
        // All waiting events are dropped, and the reader is notified before its next answer.
        let told = messages.compactMap { $0["params"] }
        #expect(told.map { $0["type"]?.string } == ["lagged"])
        #expect(told.first?["data"]?["dropped"]?.int == count)
        #expect(told.first?["data"]?["resume"]?.string == "\(stage.server.epoch).1")
        stage.server.publisher.publish(.poolConnectionClosed)
        peer.endTurn()
        #expect(try peer.answers().last?["params"]?["type"]?.string == "pool.connection_closed")
    }

    // MARK: Identity

    @Test("A hello names the client, and raises its line")
    func hello() throws {
        let peer = try connect()
        let before = peer.connection.inlineBodyBytes
        peer.write(
            #"{"jsonrpc":"2.0","id":1,"method":"client.hello","params":{"name":"me","version":"1","max_line_bytes":100000,"#
                + #""optional":["events","x","x"]}}"# + "\n")
        let result = try #require(try peer.answers().first?["result"])
        #expect(result["peer"]?["name"]?.string == "me")
        #expect(result["capabilities"]?["x"]?.bool == false)
        #expect(result["capabilities"]?["events"]?.bool == true)
        #expect(peer.connection.identity == ClientIdentity(uid: 1_000, name: "me"))
        #expect(peer.connection.inlineBodyBytes == before + 100_000 - server.limits.lineBytes)
        #expect(peer.connection.recordBytes == 97_952)
    }

    @Test("A reloaded configuration closes connections whose role has changed")
    func revoked() throws {
        stage.folder.write("config.json", #"{"access":{"uids":{"7":"observe","8":"submit"}}}"#)
        let peers = try [(7, Role.submit), (8, .submit), (9, .observe)].map { try connect(role: $0.1, uid: $0.0) }
        server.reload { _ in }
        stage.run { peers[0].connection.isClosed && peers[2].connection.isClosed }
        #expect(peers.map { $0.connection.isClosed } == [true, false, true])
    }
}
