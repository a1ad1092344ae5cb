internal import CarpoolHTTP
internal import CarpoolSystem

/// A request to the origin, for one task or for several that share its response.
///
/// A fetch with one reader passes each piece on as it arrives, and keeps a copy if the response is to be stored. With
/// several readers it keeps the pieces, and each of them reads at its own pace.
final class Fetch {
    /// What is done with the body that arrives.
    enum Phase {
        /// The head has not arrived.
        case sent
        /// The readers get it.
        case delivering
        /// Nobody gets it; the task is completed with a stored response.
        case serving(CacheAnswer)
        /// Nobody gets it: a stored response was validated.
        case updating(CacheUpdate)
        /// Nobody gets it; the request is sent once more with these fields.
        case sendingAgain([HTTPField])
        /// The origin's response is complete, or failed.
        case over(TransportError?)
    }

    let transport: CachingTransport
    let store: ResponseStore
    let key: CacheKey
    let request: TransportRequest
    let cacheRequest: CacheRequest
    let policy: CachePolicy
    var forwarding: CacheForwarding
    /// The number of the task that began it.
    let firstID: Int
    /// The place in the table of shared fetches; `nil` if nobody may share it.
    var flight: FlightKey?
    /// What was stored when it began.
    let entries: [CacheEntry]
    /// The number of the store's last removal when it began.
    let removals: Int
    /// Which of them were invalid then.
    let invalidated: [Bool]
    var task: (any TransportTask)?
    /// Whether it has no task of a request, and validates a stored response.
    let isBackground: Bool
    /// Those that get its response, the one that began it first.
    var readers: [CacheTask] = []
    /// Those that wait for its head.
    var waiting = WaitingList<CacheTask>()
    var phase = Phase.sent
    var requested = CacheTime(wall: 0, uptime: nil)
    var received = CacheTime(wall: 0, uptime: nil)
    var head: ResponseHead?
    var storing: CacheStoring?
    var body = CollectedBody()
    /// Whether the body is kept from its first byte on, to be stored.
    var isCollecting = false
    /// Bytes that are counted as being received, as long as the body is kept.
    var countedBytes = 0
    /// The answer of those that share the response, and the second of its age.
    var sharedAnswer: (second: Int64, answer: CacheAnswer)?
    /// The highest priority of those that want the response.
    var highestPriority: TransferPriority
    /// How many of those that have waited for the head have neither joined nor gone alone yet.
    var pendingJoins = 0
    /// Whether the readers read what is kept, each at its own pace.
    var isShared = false
    /// Whether the origin waits until a reader has read more.
    var isHoldingBack = false
    /// Bytes of a body that nobody gets.
    var droppedBytes = 0
    var slowReaderTimer: Timer?

    /// How far the readers may be apart, unless all of the body is kept anyway.
    static let windowBytes = 1_048_576
    /// The most bytes of an unwanted body that are read, so that the connection can be used again.
    static let maximumDroppedBytes = 65_536
    /// How long the slowest reader may hold back the others, in milliseconds.
    static let slowReaderMilliseconds = 10_000
    /// How much later than a reader's timeouts those of the origin's task are, in milliseconds.
    static let graceMilliseconds = 1_000

    /// A fetch for a task; ``begin(_:)`` starts it.
    init(for task: CacheTask, _ forwarding: CacheForwarding, flight: FlightKey?, isBackground: Bool = false) {
        transport = task.transport
        store = task.store
        key = task.key
        request = task.request
        cacheRequest = task.cacheRequest
        entries = task.entries
        removals = task.store.removals.last
        invalidated = entries.map(\.response.isInvalidated)
        policy = task.policy
        firstID = task.id
        self.forwarding = forwarding
        self.flight = flight
        self.isBackground = isBackground
        highestPriority = task.priority
    }

    deinit { uncount() }

    /// The body is not kept any more.
    func uncount() {
        transport.reception.remove(countedBytes, of: store.name.user)
        countedBytes = 0
    }

    /// Whether responses of the key were removed or made invalid since it began: its response may be older.
    var isOutdated: Bool { store.removals.concerns(key.url, since: removals) }

    /// Sends the request for the task that made it.
    func begin(_ first: CacheTask) {
        readers = [first]
        first.source = .fetch(self)
        if let flight { transport.flights[flight] = self }
        send(forwarding.fields)
        if first.isPaused { task?.pause() }
    }

    /// Sends the request with other fields than its own, or with its own.
    func send(_ fields: [HTTPField]?) {
        requested = transport.time()
        if fields == nil, !isBackground, readers.first?.hasWaited != true {
            // Without the copy of a changed request.
            task = transport.next.start(request, delegate: self)
        } else {
            var sent = request
            if let fields { sent.fields = fields }
            if isBackground {
                sent.priority = .low
                sent.resourceStart = nil
            } else if let first = readers.first {
                // The time that it has waited, for another or for the disk, is a part of its own (HX-04).
                sent.resourceStart = sent.resourceStart ?? first.began
            }
            task = transport.next.start(sent, delegate: self)
        }
        if !isBackground, highestPriority != request.priority { task?.setPriority(highestPriority) }
    }

    var storeKey: StoreKey { StoreKey(store, key) }

    // MARK: Readers

    /// Whether a task is the only one that needs the fetch.
    func isAlone(_ task: CacheTask) -> Bool {
        readers.count == 1 && readers[0] === task && waiting.isEmpty && !isShared
    }

    /// Whether a task may wait for the head, or read all of the body.
    func accepts(_ task: CacheTask) -> Bool {
        guard !isOutdated else { return false }
        switch phase {
        case .sent: return true
        case .delivering:
            guard canBeJoined, let storing else { return false }
            return policy.fitsLate(storing, task.cacheRequest, at: transport.time())
        case .serving, .updating, .sendingAgain, .over: return false
        }
    }

    /// Whether all of the body is there for one more reader.
    var canBeJoined: Bool {
        if case .delivering = phase { isCollecting && body.isWhole } else { false }
    }

    /// Adds a task that ``accepts(_:)``.
    func add(_ task: CacheTask) {
        guard case .delivering = phase else {
            waiting.append(task)
            task.wait(for: self)
            resumeForOthers()
            return raisePriority(to: task.priority)
        }
        task.source = .waiting(self)
        share()
        join(task)
        resumeForOthers()
    }

    /// Releases a task: it was cancelled, or its wait has ended.
    func leave(_ task: CacheTask) {
        waiting.remove { $0 === task }
        readers.removeAll { $0 === task }
        dropUnwanted()
        endIfUnwanted()
        didRead()
    }

    /// The body is not kept for readers that are gone.
    func dropUnwanted() {
        guard case .over = phase, readers.isEmpty, pendingJoins == 0 else { return }
        body.clear()
        uncount()
    }

    /// Ends a fetch whose response nobody wants any more.
    func endIfUnwanted() {
        guard readers.isEmpty, waiting.isEmpty, pendingJoins == 0, !isBackground else { return }
        release()
        task?.cancel()
    }

    /// Forgets the fetch: it can be shared no more.
    func release() {
        if let flight, transport.flights[flight] === self { transport.flights[flight] = nil }
        flight = nil
    }

    /// The priority of the origin's task is the highest of those that have wanted it (HX-07).
    func raisePriority(to priority: TransferPriority) {
        guard !isBackground, priority.rank < highestPriority.rank else { return }
        highestPriority = priority
        task?.setPriority(priority)
    }

    /// The only task that wants it has another priority.
    func setPriority(_ priority: TransferPriority) {
        guard waiting.isEmpty, readers.count == 1 else { return raisePriority(to: priority) }
        highestPriority = priority
        task?.setPriority(priority)
    }

    /// Calls a function for each of many tasks that wait, in slices.
    func forEach(of tasks: [CacheTask], _ body: @escaping (CacheTask) -> Void) {
        guard tasks.count > 1 else { return tasks.forEach(body) }
        let work = Slices.forEach(of: tasks, body)
        if work.runSlice() { transport.loop.runInSlices(work) }
    }

    func didPause(_ reader: CacheTask) {
        if isAlone(reader) { task?.pause() }
    }

    func didResume(_ reader: CacheTask) {
        if isShared { transport.continueAtTurnEnd(reader) }
        task?.resume()
    }

    /// A reader that is paused holds nobody else back.
    private func resumeForOthers() {
        if readers.contains(where: \.isPaused) { task?.resume() }
    }
}
