internal import CarpoolJSON
internal import CarpoolRPC

/// What a call came to: what writes its result, or its error.
typealias CallResult = Result<(inout JSONWriter) -> Void, RPCError>

/// The responses of JSON-RPC 2.0 (section 5).
enum Reply {
    static func write(id: RPCID?, _ result: CallResult, to writer: inout JSONWriter) {
        switch result {
        case .failure(let error): write(id: id, error: error, to: &writer)
        case .success(let body):
            begin(id: id, to: &writer)
            writer.key("result")
            body(&writer)
            writer.endObject()
        }
    }

    static func write(id: RPCID?, error: RPCError, to writer: inout JSONWriter) {
        begin(id: id, to: &writer)
        writer.key("error")
        error.write(to: &writer)
        writer.endObject()
    }

    private static func begin(id: RPCID?, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("jsonrpc", static: "2.0")
        writer.key("id")
        if let id { writer.raw(id.bytes) } else { writer.null() }
    }
}

/// The notifications that the daemon sends.
enum Notification {
    /// A message of a stream; the body writes the members of its parameters.
    static func write(data body: (inout JSONWriter) -> Void, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("jsonrpc", static: "2.0")
        writer.member("method", static: "request.data")
        writer.key("params")
        writer.beginObject()
        body(&writer)
        writer.endObject()
        writer.endObject()
    }

    /// Everything up to the members that all subscribers have in common.
    static func begin(subscription: String, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("jsonrpc", static: "2.0")
        writer.member("method", static: "event")
        writer.key("params")
        writer.beginObject()
        writer.member("sub", subscription)
        writer.append(verbatim: [UInt8(ascii: ",")])
        writer.beginText()
    }
}

/// The answers of one batch, sent as one array when the last is there (section 6).
final class Batch {
    private var answers: [[UInt8]] = []
    private var expected = 0
    private var isClosed = false
    private var followers: [() -> Void] = []
    private let send: ([UInt8]) -> Void

    init(send: @escaping ([UInt8]) -> Void) { self.send = send }

    /// One more answer will come.
    func expect() { expected += 1 }

    /// An answer that is there already.
    func add(_ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        write(&writer)
        answers.append(writer.bytes)
    }

    /// An answer that was expected.
    func complete(_ write: (inout JSONWriter) -> Void) {
        expected -= 1
        add(write)
        sendIfComplete()
    }

    /// Calls the body when the answers are on their way.
    func afterSending(_ body: @escaping () -> Void) {
        if isClosed, expected == 0 { body() } else { followers.append(body) }
    }

    /// No more messages belong to it.
    func close() {
        isClosed = true
        sendIfComplete()
    }

    private func sendIfComplete() {
        guard isClosed, expected == 0 else { return }
        defer { tellFollowers() }
        // A batch of notifications alone is not answered at all.
        guard !answers.isEmpty else { return }
        var writer = JSONWriter()
        writer.beginArray()
        for answer in answers { writer.raw(answer) }
        writer.endArray()
        answers = []
        send(writer.bytes)
    }

    private func tellFollowers() {
        let followers = followers
        self.followers = []
        for follower in followers { follower() }
    }
}
