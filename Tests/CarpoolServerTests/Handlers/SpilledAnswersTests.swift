import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import CarpoolSystem
import Testing

/// Answers whose body goes to the spool first, and what may happen meanwhile.
struct SpilledAnswersTests {
    private let work = HeldWork()
    private let stage: Stage
    private let client = FakeClient()
    /// Kept in memory, and too large for a usual line.
    private let body = [UInt8](repeating: 0xFF, count: 40_960)

    init() throws { stage = try Stage(work: work) }

    private var server: Server { stage.server }

    private func perform(_ client: FakeClient) throws -> (call: Int, entry: RequestEntry) {
        let call = try stage.send(client, "request.perform", #"{"url":"http://127.0.0.1:1/"}"#)
        return (call, try #require(server.requests.registry.underWay.first))
    }

    private func params(_ entry: RequestEntry) -> String { #"{"request":"\#(entry.request.id)"}"# }

    @Test("A call cancelled while its body spills leaves the record unread, and the body is deleted with it")
    func givenUp() throws {
        let (call, entry) = try perform(client)
        work.hold()
        try stage.finish(entry, body: body)
        #expect(try stage.call(client, "rpc.cancel", #"{"id":\#(call)}"#)["changed"]?.bool == true)
        work.release()
        #expect(!entry.isRead)
        let record = try stage.call(client, "request.get", params(entry))
        #expect(record["body"]?["file"]?.string == server.spool.body(of: entry.request.id)?.path)
        _ = try stage.call(client, "request.dismiss", params(entry))
        #expect(server.spool.count == 0)
        #expect(stage.folder.names(in: "spool").isEmpty)
        #expect(server.requests.pendingAnswers.delayed == 0)
    }

    @Test("A wait abandoned while its body spills has read nothing")
    func waitGivenUp() throws {
        let peer = try Peer(stage)
        let entry = try stage.submit(client)
        peer.write(#"{"jsonrpc":"2.0","id":1,"method":"request.wait","params":\#(params(entry))}"# + "\n")
        work.hold()
        try stage.finish(entry, body: body)
        peer.write(#"{"jsonrpc":"2.0","id":2,"method":"rpc.cancel","params":{"id":1}}"# + "\n")
        work.release()
        #expect(try peer.answers().count == 2)
        #expect(!entry.isRead)
    }

    @Test("A body that spills after its request was dismissed is still its client's, and no other user removes it")
    func dismissed() throws {
        client.inlineBodyBytes = 1_000_000
        client.recordBytes = 1_000_000
        let waiter = FakeClient(2)
        let (call, entry) = try perform(client)
        let wait = try stage.send(waiter, "request.wait", params(entry))
        try stage.finish(entry, body: body)
        #expect(try client.answer(call)["result"]?["body"]?["base64"] != nil)
        #expect(server.requests.registry.count == 0)
        #expect(try waiter.answer(wait)["result"]?["body"]?["file"] != nil)
        #expect(server.spool.body(of: entry.request.id)?.owner == client.identity)
        #expect(try stage.call(waiter, "body.read", params(entry))["size_bytes"]?.int == body.count)
        let other = FakeClient(3, uid: 2_000, role: .submit)
        #expect(try stage.refusal(other, "body.release", params(entry))["name"]?.string == "request.not_found")
        #expect(server.spool.count == 1)
        #expect(try stage.call(waiter, "body.release", params(entry))["changed"]?.bool == true)
        #expect(server.spool.count == 0)
    }

    @Test("A body whose file is removed before it is complete stays in memory, and the waiting calls get it")
    func removed() throws {
        let entry = try stage.submit(client)
        let wait = try stage.send(client, "request.wait", params(entry))
        work.hold()
        try stage.finish(entry, body: body)
        server.requests.dismiss(entry, keepingBody: false)
        work.release()
        #expect(try client.answer(wait)["result"]?["body"]?["base64"] != nil)
        #expect(server.spool.count == 0)
        #expect(stage.folder.names(in: "spool").isEmpty)
    }

    @Test("A body that is too large for a line and for the spool is gone, and the record says so")
    func withoutRoom() throws {
        let stage = try Stage { $0.limits.spoolBytesPerClient = 1_000 }
        let entry = try stage.submit(client)
        try stage.finish(entry, body: body)
        let record = try stage.call(client, "request.get", params(entry))
        #expect(record["body"]?["gone"]?.bool == true)
        #expect(record["body"]?["base64"] == nil)
        #expect(stage.server.requests.pendingAnswers.delayed == 0)
    }

    @Test("A body that no client has read is not removed with a client")
    func withoutOwner() throws {
        let request = server.sessions.standard(of: 1_000).request(
            RequestParameters(url: "http://127.0.0.1:1/"), id: "r_x_1")
        _ = try server.spool.makeFile(for: request, isHashed: false)
        #expect(
            try stage.refusal(client, "body.release", #"{"request":"r_x_1"}"#)["name"]?.string == "request.not_found")
        #expect(server.spool.count == 1)
    }
}
