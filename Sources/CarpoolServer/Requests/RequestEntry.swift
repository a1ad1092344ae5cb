internal import CarpoolSession
internal import CarpoolSystem

/// A request as the daemon keeps it: its client, its options and its state after the end.
final class RequestEntry {
    let request: Request
    /// The client that made it.
    let client: ClientIdentity
    /// The client's name for people: its given name, or that of its program.
    var clientName = ""
    /// The number of the connection that made it, for `on_disconnect`.
    let connection: Int
    /// Its place in the order in which requests were made.
    let sequence: Int
    /// Whether it ends with its connection.
    let cancelsOnDisconnect: Bool
    /// Whether it is kept for `request.get` after its end (`submit`), or dismissed with its answer (`perform`). If the
    /// caller has cancelled its call, it is kept from then on.
    var isKept: Bool
    /// Whether it was dismissed, so that no client can ask for it. An active request stays known until it is over,
    /// because its events have an owner.
    var isDismissed = false
    /// The client's idempotency key, and the hash of the parameters that it was used for.
    let key: String?
    let fingerprint: UInt64
    /// The client's free labels, as JSON.
    let tags: [UInt8]?
    /// Memory that it uses while it is active, of what its call contained.
    let heldBytes: Int
    /// Memory that it has used in addition since.
    var grownBytes = 0
    /// The part of it that stays when the body is released.
    private let lastingBytes: Int
    /// Memory that it uses after its end, if it is kept.
    var retainedBytes = 0
    /// Microseconds since 1970.
    let created: Int64
    var finished: Int64?
    /// Reads the stream for `request.read`.
    var pull: StreamPull?
    /// The calls that wait for its end.
    private(set) var waits: RequestWaits?
    /// Answers about it that wait until their clients have read more, and the memory that is counted for them.
    var deferredAnswers = 0
    var deferredBytes = 0
    /// Whether its record is asked for by several calls at a time.
    private(set) var isAwaitedByMany = false
    /// Whether a client has seen the outcome.
    var isRead = false
    /// The list of its client's requests, while it is known.
    var siblings: ClientEntries?
    /// Its place among those that are kept after their end.
    var place: Int?

    init(
        request: Request, client: ClientIdentity, connection: Int, sequence: Int, cancelsOnDisconnect: Bool,
        isKept: Bool, key: String?,
        fingerprint: UInt64, tags: [UInt8]?, created: Int64, callBytes: Int = 0
    ) {
        self.request = request
        let parameters = request.parameters
        heldBytes = parameters.memoryBytes(callBytes: callBytes, sessionFields: request.session.fieldCount)
        lastingBytes = max(0, heldBytes &- parameters.bodyMemoryBytes)
        self.client = client
        self.connection = connection
        self.sequence = sequence
        self.cancelsOnDisconnect = cancelsOnDisconnect
        self.isKept = isKept
        self.key = key
        self.fingerprint = fingerprint
        self.tags = tags
        self.created = created
    }

    /// Calls the body, which answers a call, when the request is over. Returns a closure that cancels this.
    func wait(on loop: EventLoop, _ pendingAnswers: PendingAnswers, _ body: @escaping () -> Void) -> () -> Void {
        let waits = waits ?? RequestWaits(loop: loop, pendingAnswers: pendingAnswers)
        if self.waits == nil {
            self.waits = waits
            request.whenFinished { _ in waits.requestDidFinish() }
        }
        let number = waits.add(body)
        if waits.count > 1 { isAwaitedByMany = true }
        return { waits.remove(number) }
    }

    /// Memory that it uses after its end.
    var recordBytes: Int { retainedBytes > 0 ? retainedBytes : request.retainedMemoryBytes &+ lastingBytes }

    func weigh() { retainedBytes = request.retainedMemoryBytes &+ lastingBytes }
}

/// The requests of one client.
final class ClientEntries {
    let client: ClientIdentity
    var entries = OrderedEntries<RequestEntry>()

    init(client: ClientIdentity) { self.client = client }
}
