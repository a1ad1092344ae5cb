import CarpoolHTTP
import CarpoolJSON
import CarpoolRPC
@testable import CarpoolServer
@testable import CarpoolSession
import CarpoolSystem
import Testing

/// A server, a client that gets callbacks, and the request that they are about.
final class CallbackStage {
    let request: Request
    let peer: Peer
    let stage: Stage
    private let origin = SilentOrigin()

    init(_ change: (inout ServerConfiguration) -> Void = { _ in }) throws {
        stage = try Stage(change)
        peer = try Peer(stage)
        request = try stage.submit(FakeClient(99), url: origin.url).request
    }

    var broker: CallbackBroker { stage.server.callbacks }

    /// The handlers of a call of the peer's, or of its session.
    func parts(ofSession: Bool = false) -> ClientCallbackFactory {
        ClientCallbackFactory(
            broker: broker, origin: ofSession ? nil : peer.connection.number, client: FakeClient().identity,
            worker: stage.server.worker.access(for: .process))
    }

    /// A callback's description.
    static func callback(_ more: String = "") throws -> JSON {
        try JSON.parse(Array(#"{"name":"sign"\#(more)}"#.utf8))
    }

    /// The callbacks that have come, each a call.
    func questions(_ peer: Peer? = nil) throws -> [JSON] {
        try (peer ?? self.peer).answers().filter { $0["method"]?.string?.hasPrefix("callback.") == true }
    }

    /// The only callback that has come.
    func question(_ peer: Peer? = nil) throws -> JSON {
        let questions = try questions(peer)
        try #require(questions.count == 1)
        return questions[0]
    }

    /// Answers the callback with that number.
    func answer(_ number: Int, _ result: String, from peer: Peer? = nil) {
        (peer ?? self.peer).write(CallbackStage.response(number, result))
    }

    static func response(_ number: Int, _ result: String) -> String {
        #"{"jsonrpc":"2.0","id":"cb_\#(number)","result":\#(result)}"# + "\n"
    }

    /// A GET with one field.
    static func transportRequest(_ fields: [(String, String)] = [("Accept", "*/*")]) throws -> TransportRequest {
        TransportRequest(
            method: .get, url: try HTTPURL("https://example.com/a"),
            fields: try fields.map { try HTTPField(name: $0.0, value: $0.1) })
    }
}

extension Result {
    /// The value of a success.
    var value: Success? { try? get() }

    /// The error of a failure.
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension SessionError {
    /// A detail that is a text.
    func text(_ name: String) -> String? {
        for detail in details where detail.name == name { if case .string(let text) = detail.value { return text } }
        return nil
    }
}
