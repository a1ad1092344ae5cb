import CarpoolJSON
@testable import CarpoolServer
@testable import CarpoolSession
import CarpoolSystem
import Testing

/// Reading and releasing bodies of files, while the disk takes its time.
struct BodyHandlersTests {
    private let work = HeldWork()
    private let stage: Stage
    private let client = FakeClient()

    init() throws { stage = try Stage(work: work) }

    /// The parameters that name a request whose body is in a file.
    private func requestWithFile() throws -> String {
        let entry = try stage.submit(client, #","response_body":"file""#)
        try stage.finish(entry, body: Array("hello".utf8))
        #expect(stage.folder.names(in: "spool").count == 1)
        return #"{"request":"\#(entry.request.id)"}"#
    }

    @Test("A descriptor is not passed if others have taken its place while the file was opened")
    func descriptorsAtOnce() throws {
        let params = try requestWithFile()
        work.hold()
        let call = try stage.send(client, "body.open", params)
        client.takesDescriptors = false
        work.release()
        let error = try client.answer(call)["error"]
        #expect(error?["data"]?["limit"]?.int == stage.server.limits.descriptorsPerConnection)
        #expect(try stage.refusal(client, "body.open", params)["limit"] != nil)
        client.takesDescriptors = true
        #expect(try stage.call(client, "body.open", params)["size_bytes"]?.int == 5)
    }

    @Test("A disk that does not remove a file delays the answer for a second at most")
    func slowRemoval() throws {
        let params = try requestWithFile()
        work.hold()
        let call = try stage.send(client, "body.release", params)
        #expect(client.answers["\(call)"] == nil)
        let end = MonotonicTime.read().advanced(milliseconds: 20_000)
        stage.run { [client] in client.answers["\(call)"] != nil || MonotonicTime.read() > end }
        #expect(try client.answer(call)["result"]?["changed"]?.bool == true)
        #expect(stage.folder.names(in: "spool").count == 1)
        work.release()
        #expect(stage.folder.names(in: "spool").isEmpty)
    }
}
