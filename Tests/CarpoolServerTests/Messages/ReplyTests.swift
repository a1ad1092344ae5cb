import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
import Testing

struct ReplyTests {
    private static func id(_ text: String) throws -> RPCID { try #require(RPCID(try JSON.parse(Array(text.utf8)))) }

    private static func text(_ write: (inout JSONWriter) throws -> Void) rethrows -> String {
        var writer = JSONWriter()
        try write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("Ids are echoed as they are", arguments: [#""a\"b""#, "7", "null", "1.5"])
    func result(_ id: String) throws {
        let id = try Self.id(id)
        let text = Self.text { Reply.write(id: id, .success { $0.bool(true) }, to: &$0) }
        #expect(text == #"{"jsonrpc":"2.0","id":\#(id),"result":true}"#)
    }

    @Test("Success never carries an error, failure never a result")
    func failure() throws {
        let text = Self.text { Reply.write(id: nil, .failure(.draining), to: &$0) }
        let reply = try JSON.parse(Array(text.utf8))
        #expect(reply["id"]?.kind == .null)
        #expect(reply["result"] == nil)
        #expect(reply["error"]?["code"]?.int == 1006)
        #expect(reply["error"]?["data"]?["name"]?.string == "draining")
    }

    @Test("A notification is one object, whose last members come from elsewhere")
    func notification() throws {
        let text = Self.text { writer in
            Notification.begin(subscription: "s1", to: &writer)
            writer.append(verbatim: Array(#""type":"t","data":{}}"#.utf8))
            writer.endObject()
        }
        #expect(text == #"{"jsonrpc":"2.0","method":"event","params":{"sub":"s1","type":"t","data":{}}}"#)
    }
}

struct BatchTests {
    /// Answers of a batch as they are sent.
    private final class Sink {
        var sent: [String] = []
        lazy var batch = Batch { [unowned self] in sent.append(String(decoding: $0, as: UTF8.self)) }
    }

    @Test("One array, when the last answer is there and no more can come")
    func order() {
        let sink = Sink()
        sink.batch.expect()
        sink.batch.expect()
        sink.batch.complete { $0.integer(2) }
        sink.batch.add { $0.integer(0) }
        #expect(sink.sent.isEmpty)
        sink.batch.close()
        #expect(sink.sent.isEmpty)
        sink.batch.complete { $0.integer(1) }
        #expect(sink.sent == ["[2,0,1]"])
    }

    @Test("All answered before the end: sent at the end")
    func synchronous() {
        let sink = Sink()
        sink.batch.expect()
        sink.batch.complete { $0.integer(1) }
        #expect(sink.sent.isEmpty)
        sink.batch.close()
        #expect(sink.sent == ["[1]"])
    }

    @Test("Notifications alone are not answered at all")
    func silence() {
        let sink = Sink()
        sink.batch.close()
        #expect(sink.sent.isEmpty)
    }
}
