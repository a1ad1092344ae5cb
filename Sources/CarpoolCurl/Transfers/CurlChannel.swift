internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem

/// What has arrived for a call.
final class CurlReply {
    /// The number of the call on its connection.
    let number: Int64
    /// Whether the daemon reports how much of the body it has sent.
    fileprivate let isMetered: Bool
    /// The bytes of the body that were sent, of a call that is metered.
    fileprivate(set) var sentBytes: Int64 = 0
    fileprivate(set) var record: JSON?
    fileprivate(set) var failure: Failure?
    /// The request that needs a pipe.
    fileprivate(set) var request: String?
    /// Whether the daemon has answered.
    fileprivate(set) var isAnswered = false

    init(_ number: Int64, isMetered: Bool) {
        self.number = number
        self.isMetered = isMetered
    }

    /// Whether there is something that was not taken.
    var hasContent: Bool { record != nil || failure != nil || request != nil }

    /// The request that needs a pipe, once.
    func takeRequest() -> String? {
        defer { request = nil }
        return request
    }

    /// The record, once, if it has arrived.
    func takeRecord() throws(Failure) -> JSON? {
        defer { record = nil }
        if let failure { throw failure }
        return record
    }
}

/// A connection to the daemon that the calls of several exchanges share.
final class CurlChannel {
    private let daemon: DaemonAccess
    /// The calls without an answer.
    private var waiting: [CurlReply] = []
    /// The calls that a draining daemon has refused. They fail when the connection has ended: until then the other
    /// calls are answered, and no other daemon can be started.
    private var refused: [(reply: CurlReply, failure: Failure)] = []
    /// Why the connection has failed.
    private(set) var failure: Failure?
    /// Whether the daemon has closed the connection. What it sent before can still be read.
    private var isClosed = false
    /// The number of the last call that was sent.
    private var lastCall: Int64 = 0

    /// The daemon's default maximum is 256 calls of a connection (`calls_per_connection`).
    private static let maximumCalls = 128

    init(_ daemon: DaemonAccess) { self.daemon = daemon }

    /// The descriptor of the connection: it is readable when the daemon has sent something.
    var descriptor: Int32 { daemon.descriptor }

    /// Whether another call can be sent. An event does not name its call, so that a call which is metered has no
    /// other one behind it.
    var takesCalls: Bool {
        failure == nil && !isClosed && refused.isEmpty && waiting.count < CurlChannel.maximumCalls
            && !waiting.contains(where: \.isMetered)
    }

    /// Sends a call; returns where its answer arrives.
    /// - Parameter isMetered: whether it asks for the events of its upload.
    func begin(
        _ method: String, passing descriptors: PassedDescriptors, isMetered: Bool = false,
        _ params: (inout JSONWriter) -> Void
    ) throws(Failure) -> CurlReply {
        let reply = CurlReply(try send(method, passing: descriptors, params), isMetered: isMetered)
        waiting.append(reply)
        return reply
    }

    /// Sends a call; returns its number. Its answer is dropped.
    @discardableResult
    func send(
        _ method: String, passing descriptors: PassedDescriptors = .none, _ params: (inout JSONWriter) -> Void
    ) throws(Failure) -> Int64 {
        do throws(Failure) {
            lastCall = try daemon.begin(method, passing: descriptors, params)
            return lastCall
        } catch {
            // The daemon may have read and answered the calls before this one.
            isClosed = true
            throw error
        }
    }

    /// Reads once. A lost connection is a failure of all calls.
    func receive() {
        do throws(Failure) { try daemon.receiveReplies(for: self) } catch { fail(error) }
    }

    /// Cancels a call and its request, if it has no answer.
    func cancel(_ reply: CurlReply) {
        guard failure == nil, remove(reply.number) != nil else { return }
        _ = try? send("rpc.cancel") { writer in
            writer.beginObject()
            writer.member("id", reply.number)
            writer.member("request", true)
            writer.endObject()
        }
    }

    /// Fails all calls. Only of the last one it may be known that the daemon has not read it.
    private func fail(_ error: Failure) {
        failure = failure ?? error
        for reply in waiting { reply.failure = error.isUnread && reply.number != lastCall ? error.asRead : error }
        for (reply, refusal) in refused { reply.failure = refusal }
        (waiting, refused) = ([], [])
    }

    private func remove(_ call: Int64) -> CurlReply? {
        waiting.firstIndex { $0.number == call }.map { waiting.remove(at: $0) }
    }
}

extension CurlChannel: DaemonReplies {
    func answer(_ call: Int64, _ result: JSON) {
        let reply = remove(call)
        reply?.record = result
        reply?.isAnswered = true
    }

    func refuse(_ call: Int64, _ error: ClientError) {
        guard let reply = remove(call) else { return }
        reply.isAnswered = true
        let failure = Failure(error)
        if failure.refusal == "draining" { refused.append((reply, failure)) } else { reply.failure = failure }
    }

    func notify(_ method: String, _ params: JSON) {
        switch method {
        case "request.output_needed":
            guard let call = params["call"]?.integer else { return }
            waiting.first { $0.number == call }?.request = params["request"]?.string
        case "event":
            guard let bytes = params["data"]?["sent_bytes"]?.integer else { return }
            waiting.first { $0.isMetered }?.sentBytes = bytes
        default: return
        }
    }
}
