public import CarpoolHTTP
public import CarpoolSystem

/// A ``Transport`` with stores of responses in front of another transport (RFC 9111). A request whose
/// ``TransportRequest/cache`` is `nil` is passed on as it is.
public final class CachingTransport: Transport {
    let next: any Transport
    let loop: EventLoop
    /// All stores.
    public let stores: CacheStores
    let reception = ReceptionMemory()
    /// Tasks that can go on when the turn ends.
    private var due: [CacheTask] = []
    private var isObservingTurn = false
    /// The last number of a task: they count down, because the next transport counts up.
    private var lastID = 0
    /// The fetches that identical requests may share.
    var flights: [FlightKey: Fetch] = [:]
    /// Keys whose responses could not be shared a short time ago.
    var passes = PassTable()
    /// Background validations that failed, and when the next may begin.
    var backoffs = ValidationBackoffs()
    /// Background validations under way.
    private var validations: [StoreKey: Fetch] = [:]
    private var validates = true
    private var lastTime = (turn: -1, time: CacheTime(wall: 0, uptime: nil))

    /// How long the tasks of a turn deliver before the rest waits for the next turn, in microseconds.
    private static let turnMicroseconds = 2_000
    /// The time between two attempts to read a file while too many jobs wait.
    private static let busyMilliseconds = 10
    /// The most background validations of a user at a time, and of those to one origin: beyond that, a later request
    /// begins one.
    private static let maximumValidations = 128
    private static let maximumValidationsOfOrigin = 16

    /// Makes a transport on the loop of the next one.
    public init(next: any Transport, loop: EventLoop, stores: CacheStores) {
        self.next = next
        self.loop = loop
        self.stores = stores
    }

    // MARK: Transport

    /// That of the next transport.
    public var connectionObserver: (any ConnectionObserver)? {
        get { next.connectionObserver }
        set { next.connectionObserver = newValue }
    }

    /// Starts a task that uses the store of the request, or one of the next transport.
    public func start(_ request: TransportRequest, delegate: any TransferDelegate) -> any TransportTask {
        guard let use = request.cache else { return next.start(request, delegate: delegate) }
        lastID -= 1
        let task = CacheTask(
            id: lastID, request: request, use: use, store: stores.store(for: use), transport: self,
            delegate: delegate)
        task.decide()
        return task
    }

    /// Closes those of the next transport.
    @discardableResult public func closeIdleConnections() -> Int { next.closeIdleConnections() }

    /// Those of the next transport.
    public var statistics: PoolStatistics { next.statistics }

    /// That of the next transport.
    public func load(of users: PoolUsers) -> PoolLoad { next.load(of: users) }

    /// Those of the next transport.
    public func origins(of users: PoolUsers, after number: Int, atMost count: Int) -> [OriginStatistics] {
        next.origins(of: users, after: number, atMost: count)
    }

    // MARK: Turns

    /// The time: one reading for a turn.
    func time() -> CacheTime {
        if lastTime.turn != loop.turns { lastTime = (loop.turns, .now()) }
        return lastTime.time
    }

    /// Lets a task deliver when the turn ends.
    func continueAtTurnEnd(_ task: CacheTask) {
        guard !task.isDue else { return }
        task.isDue = true
        due.append(task)
        observeTurn()
    }

    /// Lets a task deliver after a while, because the worker is busy.
    func continueLater(_ task: CacheTask) {
        loop.arm(Timer { [self] in continueAtTurnEnd(task) }, afterMilliseconds: CachingTransport.busyMilliseconds)
    }

    private func observeTurn() {
        guard !isObservingTurn else { return }
        isObservingTurn = true
        loop.afterTurn(self)
    }

    private func deliver() {
        isObservingTurn = false
        let slice = TimeSlice(microseconds: CachingTransport.turnMicroseconds)
        let tasks = due
        due.removeAll(keepingCapacity: true)
        for (index, task) in tasks.enumerated() {
            task.isDue = false
            if task.deliver() { continueAtTurnEnd(task) }
            guard index + 1 < tasks.count, slice.isOver else { continue }
            due.insert(contentsOf: tasks[(index + 1)...], at: 0)
            return observeTurn()
        }
    }

    // MARK: Validations in the background

    /// Asks the origin whether a stale response that was just served is still valid (HV-09): one request for a key.
    func validateInBackground(_ task: CacheTask, _ forwarding: CacheForwarding) {
        guard validates, validations[task.storeKey] == nil, backoffs.allows(task.storeKey, at: time()),
            hasRoomToValidate(task)
        else { return }
        let fetch = Fetch(for: task, forwarding, flight: nil, isBackground: true)
        validations[task.storeKey] = fetch
        fetch.send(forwarding.fields)
    }

    private func hasRoomToValidate(_ task: CacheTask) -> Bool {
        let (user, origin) = (task.store.name.user, task.request.url.origin)
        var counts = (user: 0, origin: 0)
        for fetch in validations.values where fetch.store.name.user == user {
            counts.user += 1
            if fetch.request.url.origin == origin { counts.origin += 1 }
        }
        return counts.user < CachingTransport.maximumValidations
            && counts.origin < CachingTransport.maximumValidationsOfOrigin
    }

    /// Cancels the validations in the background, and starts no more: the process is about to end.
    public func endValidations() {
        validates = false
        for fetch in Array(validations.values) { fetch.task?.cancel() }
    }

    func backgroundDidEnd(_ fetch: Fetch) {
        if validations[fetch.storeKey] === fetch { validations[fetch.storeKey] = nil }
    }

    // MARK: Invalidating

    /// Makes stored responses invalid after a response to an unsafe request.
    func invalidate(_ invalidation: CacheInvalidation, in store: ResponseStore, for request: TransportRequest) {
        for url in invalidation.urls {
            store.invalidate(CacheKey(partition: request.connectionPartition, url: url.withoutFragment))
        }
        guard let origin = invalidation.origin else { return }
        // A server that nobody has verified says nothing about the responses of others.
        stores.purge(store, of: origin, only: CacheKey(request).diskIdentity == nil ? request.connectionPartition : nil)
    }
}

extension CachingTransport: TurnObserver {
    /// Delivers what the tasks have.
    public func turnDidEnd() { deliver() }
}
