internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem

/// What a handler gives back.
enum Answer {
    /// The result, written when the reply is.
    case result((inout JSONWriter) -> Void)
    /// The handler keeps the call and answers later.
    case pending
}

/// One call under way: its method and checked parameters, and the one answer that it gets.
///
/// A handler sees this and not the connection, so it can neither write to it nor answer twice.
final class Call: Responder {
    /// As received; `nil` for a notification, which is never answered.
    let id: RPCID?
    /// The checked parameters; none once they have been let go of.
    private(set) var params: Params
    /// What a thread has made of the parameters of a large call.
    var parts: PreparedParts?
    /// Who calls.
    let client: any Client
    /// Carried out if the call is cancelled, or its connection lost, before it is answered.
    var onCancel: () -> Void = {}
    /// Carried out when its answer is on its way, or at once where nobody gets one.
    var onAnswered: () -> Void = {}
    private(set) var isAnswered = false
    /// Whether carrying it out is still of use: nobody has answered it, and its caller is there.
    var isWanted: Bool { !isAnswered && client.isConnected }
    /// What goes with the line of its answer.
    var passedDescriptor: WorkerFile?
    /// The batch that its answer belongs to.
    let batch: Batch?
    /// How long the message was that it came in.
    let messageBytes: Int

    init(id: RPCID?, params: Params, client: any Client, batch: Batch?, messageBytes: Int = 0) {
        self.messageBytes = messageBytes
        self.id = id
        self.params = params
        self.client = client
        self.batch = batch
    }

    /// Lets go of the parameters, and so of the message that they came in: a call that waits for an answer from the network keeps
    /// only what was made of them.
    func releaseParameters() {
        params = .none
        parts = nil
    }

    /// Answers with a result. Only the first answer counts.
    func answer(_ write: @escaping (inout JSONWriter) -> Void) { finish(.success(write)) }

    /// Answers with an error. Only the first answer counts.
    func fail(_ error: RPCError) { finish(.failure(error)) }

    /// Ends the call without an answer, because nobody is there to read it.
    func abandon() {
        guard !isAnswered else { return }
        isAnswered = true
        onCancel()
        onCancel = {}
    }

    /// Ends the call on its caller's wish; what it waits for goes on.
    func cancel() {
        guard !isAnswered else { return }
        onCancel()
        fail(.cancelled)
    }

    private func finish(_ result: CallResult) {
        guard !isAnswered else { return }
        isAnswered = true
        // It holds what the call waited for, which holds the call: a ring that nobody would ever let go of.
        onCancel = {}
        client.send(result, of: self)
        let onAnswered = onAnswered
        self.onAnswered = {}
        if let batch { batch.afterSending(onAnswered) } else { onAnswered() }
    }
}
