import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import Testing

/// Answers to many calls that wait for one request.
struct CrowdAnswersTests {
    private let stage: Stage
    private let client = FakeClient()

    init() throws { stage = try Stage() }

    private var server: Server { stage.server }

    private func params(_ entry: RequestEntry) -> String { #"{"request":"\#(entry.request.id)"}"# }

    @Test("A call whose timeout passes while a crowd is answered gets its record")
    func lateTimer() throws {
        let entry = try stage.submit(client)
        for _ in 0..<200 { try stage.send(client, "request.wait", params(entry)) }
        let call = try stage.send(
            client, "request.response", #"{"request":"\#(entry.request.id)","timeout_ms":0}"#)
        try stage.finish(entry)
        stage.run { [client] in client.resources.calls.isEmpty }
        #expect(try client.answer(call)["result"]?["timeline"] != nil)
    }

    @Test("Within one turn, a record follows what other calls have done")
    func sameTurn() throws {
        let entry = try stage.submit(client, #","start":"manual""#)
        for _ in 0..<2 { try stage.send(client, "request.wait", params(entry)) }
        let states = try ["resume", "suspend", "resume"].map { change in
            _ = try stage.call(client, "request.\(change)", params(entry))
            return try stage.call(client, "request.get", params(entry))["state"]?.string
        }
        #expect(states == ["resumed", "suspended", "resumed"])
        client.recordBytes = 30_000
        client.inlineBodyBytes = 20_000
        try stage.finish(entry, body: [UInt8](repeating: 0xFF, count: 30_000))
        #expect(try stage.call(client, "request.get", params(entry))["body"]?["file"] != nil)
        _ = try stage.call(client, "body.release", params(entry))
        #expect(try stage.call(client, "request.get", params(entry))["body"]?["gone"]?.bool == true)
    }

    @Test("An answer that becomes due where its connection has to be closed to make room leaves nothing behind")
    func dueOnClosedConnection() throws {
        let stage = try Stage { $0.limits.totalUnreadBytes = 400_000 }
        let entry = try stage.submit(client)
        let peer = try Peer(stage)
        let connection = peer.connection
        [UInt8](repeating: 0x78, count: 470_000).withUnsafeBytes { connection.send(message: $0) }
        connection.noteMemory()
        #expect(!connection.isClosed)
        try stage.finish(entry, body: [UInt8](repeating: 0x78, count: 40_000))
        stage.server.requests.dismiss(entry, keepingBody: true)
        let call = Call(id: try .number(1), params: .none, client: connection, batch: nil)
        connection.resources.calls[try .number(1)] = call
        connection.answer(call, about: entry, .written {})
        #expect(connection.isClosed)
        #expect(call.isAnswered)
        #expect(connection.deferredAnswers.isEmpty)
        #expect(entry.deferredAnswers == 0)
        #expect(stage.server.requests.pendingAnswers.delayed == 0)
        #expect(stage.server.memory.output.total == 0)
    }
}
