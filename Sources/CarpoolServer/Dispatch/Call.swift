internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession
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
final class Call {
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
        client.deliver(result, of: self)
        let onAnswered = onAnswered
        self.onAnswered = {}
        if let batch { batch.afterSending(onAnswered) } else { onAnswered() }
    }
}

/// A connected client as handlers see it.
protocol Client: AnyObject, EventSink {
    /// The connection's number.
    var number: Int { get }
    /// Whether it has not gone.
    var isConnected: Bool { get }
    /// The user at the other end.
    var uid: UInt32 { get }
    /// The process at the other end, as far as the kernel knows.
    var pid: Int32 { get }
    /// What it may do.
    var role: Role { get }
    /// Whether paths that it names are opened. Judged when it is asked for, and good for this turn of the loop.
    var pathAccess: PathAccess { get }
    /// In what it is shut off from what the daemon reaches; `nil` if it is not.
    var enclosure: ProcessView.Part? { get }
    /// Whose quotas count, and what `mine` means.
    var identity: ClientIdentity { get }
    /// What people call it: the name that it gave, or that of its program.
    var displayName: String { get }
    /// What its requests say in `User-Agent`, unless they or their session say something else.
    var userAgent: HTTPField? { get }
    /// The encoded size up to which a body may stand in a record.
    var inlineBodyBytes: Int { get }
    /// How long a record may be, so that the line with it is one that the client takes.
    var recordBytes: Int { get }
    /// Whether one more descriptor may be on its way to it.
    var takesDescriptors: Bool { get }
    /// Requests that end with this connection, by their place in the order.
    var dependents: [Int: RequestEntry] { get set }
    /// Live subscriptions, by name.
    var subscriptions: [String: Subscription] { get set }
    /// Live watches of the network, by name.
    var watches: [String: ReachabilityWatch] { get set }
    /// Whether it has read everything so far.
    var takesNews: Bool { get }
    /// Queues one notification that is no part of the stream of events.
    func deliver(news write: (inout JSONWriter) -> Void)
    /// Readers of streams that send on this connection, by name.
    var feeds: [String: StreamFeed] { get set }
    /// Its raw streams, by name; they are closed with the connection.
    var rawStreams: [String: RawStreamEntry] { get set }
    /// Whether more of a stream may be queued for it.
    var takesStreams: Bool { get }
    /// Queues one message of a stream.
    func deliver(_ message: StreamMessage, of feed: StreamFeed)
    /// Lets go of a reader that has been told the end of its stream.
    func forget(_ feed: StreamFeed)
    /// How many descriptors came with the line that is handled.
    var descriptorCount: Int { get }
    /// Gives one of them away, once; the caller closes it.
    func claim(descriptor index: Int) -> Int32?
    /// Takes over what the client says of itself.
    func introduce(name: String?, version: String?, maximumLineBytes: Int?)
    /// Carries out work that is too long for one go, before anything else that the client asks for.
    func carryOut(_ work: any SlicedWork)
    /// Writes the answer of a call, or nothing if the call was a notification.
    func deliver(_ result: CallResult, of call: Call)
    /// Carries out a body that answers a call with a request's record: now, or when the client has read what was sent before.
    func answer(_ call: Call, about entry: RequestEntry, _ body: @escaping () -> Void)
    /// Starts a body that answers such a call by a job; the body calls `done` when the call is answered or cancelled.
    func answer(
        _ call: Call, about entry: RequestEntry, computing body: @escaping (_ done: @escaping () -> Void) -> Void)
    /// A call of this client that is under way.
    func callUnderWay(_ id: RPCID) -> Call?
}
