internal import CarpoolHTTP
internal import CarpoolSystem

/// A hop of a request that uses a store. It reads a stored response, or a fetch from the origin that it may share with
/// others.
final class CacheTask: TransportTask {
    /// Where the response comes from.
    enum Source {
        /// The stored responses are loaded from the disk.
        case loading
        /// The response to an identical request, whose head has not arrived.
        case waiting(Fetch)
        /// A stored response.
        case stored(StoredBody)
        /// The origin.
        case fetch(Fetch)
        /// It fails.
        case failed(TransportError)
        /// It has completed.
        case ended
    }

    let id: Int
    let request: TransportRequest
    let transport: CachingTransport
    let store: ResponseStore
    let key: CacheKey
    private let use: CacheUse
    /// The request as the rules see it; made when the store can hash its credentials.
    private(set) lazy var cacheRequest = CacheRequest(
        request, use: use, credentials: store.credentials(of: request, use), hash: store.hash)
    /// The rules, with the settings that the request came with.
    let policy: CachePolicy
    var delegate: (any TransferDelegate)?
    var source = Source.loading
    /// What was stored for the key when the decision was made, the newest first.
    var entries: [CacheEntry] = []
    /// The answer that is served, until its head is delivered.
    var answer: CacheAnswer?
    /// What the record says of it.
    var outcome: CacheOutcome?
    /// The metrics of the fetch that it began.
    var fetchMetrics: TransferMetrics?
    /// When it began: wall clock, microseconds; and the loop's clock.
    let fetchStart = WallClock.microseconds()
    let began = MonotonicTime.read()
    var isPaused = false
    /// Whether it may wait for an identical request.
    var mayWait = true
    /// Why it did not wait, or waits no more.
    var reasonNotToWait: CacheReason?
    /// Whether it has waited, for an identical request or for the disk.
    var hasWaited = false
    /// Whether the disk has not answered in time, so that it is not asked any more.
    var hasGivenUpDisk = false
    /// How many fetches that it could have shared have failed.
    var failedLeaders = 0
    private(set) var isCancelled = false
    /// Whether it is in the transport's list of tasks that can go on.
    var isDue = false
    var hasDeliveredStart = false
    var firstByteMicroseconds: Int?
    var deliveredBytes = 0
    /// The next byte of a shared fetch.
    var position = 0
    /// Fires when a wait or a timeout ends.
    var timer: Timer?
    var lastActivity: MonotonicTime
    private(set) var priority: TransferPriority

    /// The most bytes of a piece that a delegate gets.
    static let pieceBytes = 16_384
    /// The most bytes that a task delivers before the others have their turn.
    static let bytesPerTurn = 65_536

    init(
        id: Int, request: TransportRequest, use: CacheUse, store: ResponseStore, transport: CachingTransport,
        delegate: any TransferDelegate
    ) {
        self.id = id
        self.request = request
        self.store = store
        self.transport = transport
        self.delegate = delegate
        priority = request.priority
        lastActivity = began
        key = CacheKey(request)
        self.use = use
        policy = CachePolicy(settings: use.values.settings)
    }

    var storeKey: StoreKey { StoreKey(store, key) }

    var values: CacheUse.Values { use.values }

    // MARK: TransportTask

    var bodyPosition: Int64 {
        guard case .fetch(let fetch) = source else { return 0 }
        return fetch.task?.bodyPosition ?? 0
    }

    var needsNetwork: Bool {
        switch source {
        case .loading, .stored, .failed, .ended: false
        case .waiting, .fetch: true
        }
    }

    func cancel() {
        switch source {
        case .ended, .failed: return
        case .fetch(let fetch) where fetch.isAlone(self):
            isCancelled = true
            fetch.release()
            fetch.task?.cancel()
        case .fetch(let fetch), .waiting(let fetch):
            fetch.leave(self)
            fail(.taskCancelled)
        case .loading, .stored: fail(.taskCancelled)
        }
    }

    func pause() {
        isPaused = true
        if case .fetch(let fetch) = source { fetch.didPause(self) }
    }

    func resume() {
        guard isPaused else { return }
        isPaused = false
        lastActivity = transport.loop.now
        switch source {
        case .fetch(let fetch):
            if timer != nil { armTimeout() }
            fetch.didResume(self)
        case .stored(let body):
            // A timer of the disk goes on.
            if !body.isReading { stopTimer() }
            transport.continueAtTurnEnd(self)
        case .failed: transport.continueAtTurnEnd(self)
        case .loading, .waiting, .ended: break
        }
    }

    func setPriority(_ priority: TransferPriority) {
        self.priority = priority
        switch source {
        case .fetch(let fetch), .waiting(let fetch): fetch.setPriority(priority)
        case .loading, .stored, .failed, .ended: break
        }
    }

    func extendTimeouts(idleMilliseconds: Int, resourceEnd: MonotonicTime) {
        guard case .fetch(let fetch) = source else { return }
        fetch.task?.extendTimeouts(idleMilliseconds: idleMilliseconds, resourceEnd: resourceEnd)
    }

    /// Completes soon with an error.
    func fail(_ error: TransportError) {
        source = .failed(error)
        transport.continueAtTurnEnd(self)
    }
}

extension TransportError {
    /// A task was cancelled.
    static var taskCancelled: TransportError { TransportError(.cancelled, "the transfer was cancelled") }
}
