internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem

/// The result of a handler.
enum Answer {
    /// The result, written with the reply.
    case result((inout JSONWriter) -> Void)
    /// The handler keeps the call and answers later.
    case pending
}

/// A call in flight: its checked parameters, and its one answer.
///
/// A handler sees this and not the connection, so it can neither write to it nor answer twice.
final class Call: Responder {
    /// As received; `nil` for a notification, which is never answered.
    let id: RPCID?
    /// The checked parameters; none after ``releaseParameters()``.
    private(set) var params: Params
    /// The parts of a large call that a thread has read.
    var parts: ParsedParts?
    /// The client that calls.
    let client: any Client
    /// Called if the call is cancelled, or its connection closed, before it is answered.
    var onCancel: () -> Void = {}
    /// Ends the request that the call has made.
    var endRequest: (() -> Void)?
    /// Called when the answer is queued, or at once if there is none.
    var onAnswered: () -> Void = {}
    /// When its files began to be opened; `nil` if it had none to wait for.
    var waitedSince: MonotonicTime?
    private(set) var isAnswered = false
    /// Whether the call still needs an answer: it has none, and its client is connected.
    var isWanted: Bool { !isAnswered && client.isConnected }
    /// The descriptor that is sent with the answer.
    var passedDescriptor: WorkerFile?
    /// The batch that contains the call.
    let batch: Batch?
    /// The length of the message that contained the call.
    let messageBytes: Int

    init(id: RPCID?, params: Params, client: any Client, batch: Batch?, messageBytes: Int = 0) {
        self.messageBytes = messageBytes
        self.id = id
        self.params = params
        self.client = client
        self.batch = batch
    }

    /// Releases the parameters, and so the message that contained them: a call that waits for the network keeps only
    /// what was made of them.
    func releaseParameters() {
        params = .none
        parts = nil
    }

    /// Answers with a result. Only the first answer counts.
    func answer(_ write: @escaping (inout JSONWriter) -> Void) { finish(.success(write)) }

    /// Answers with an error. Only the first answer counts.
    func fail(_ error: RPCError) { finish(.failure(error)) }

    /// Ends the call without an answer, because the connection is closed.
    func abandon() {
        guard !isAnswered else { return }
        isAnswered = true
        onCancel()
        onCancel = {}
        endRequest = nil
    }

    /// Cancels the call; what it waits for continues, or ends too if it is a request that the call has made.
    func cancel(withRequest: Bool = false) {
        guard !isAnswered else { return }
        let endRequest = withRequest ? endRequest : nil
        if endRequest == nil { onCancel() }
        fail(.cancelled)
        endRequest?()
    }

    private func finish(_ result: CallResult) {
        guard !isAnswered else { return }
        isAnswered = true
        // It references what the call waits for, which references the call: a retain cycle.
        onCancel = {}
        endRequest = nil
        client.send(result, of: self)
        let onAnswered = onAnswered
        self.onAnswered = {}
        if let batch { batch.afterSending(onAnswered) } else { onAnswered() }
        if let id { client.resources.sequence.callDidEnd(id) }
    }
}
