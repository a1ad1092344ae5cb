internal import CCurl
public import CarpoolSystem

/// A ``Transport`` over libcurl's multi_socket interface, driven by the event loop that it is made with.
///
/// Starting, cancelling and resuming take effect when the turn of the loop ends: libcurl must not be called from its
/// own callbacks, from which delegates are called.
public final class CurlTransport: Transport {
    let loop: EventLoop
    let configuration: TransportConfiguration
    let connections: ConnectionTable
    /// The system's certificate authorities.
    let systemTrust: SystemTrust
    let worker: Worker
    var queue: AdmissionQueue<CurlTransfer>
    var multis: [MultiHandle.ShardKey: MultiHandle] = [:]
    var pools: [OriginPool.Key: OriginPool] = [:]
    /// All pools, in order of creation.
    var poolOrder = FIFOQueue<OriginPool>()
    /// The pools of each user.
    var users: [UInt32?: UserPools] = [:]
    var sweeper: Timer?
    /// What is left to do for idle connections.
    var upkeep = PoolUpkeep()
    /// The state of the machine's network.
    var network = NetworkChangeState()
    /// The transfers that wait for a caller to decide about a server, by what it has to decide.
    var questions: [TrustQuestion: AskedQuestion] = [:]
    /// The look-ups of hosts, and the transfers that wait for one.
    var lookups = LookupTable<CurlTransfer>()
    var lookupTimer: Timer?
    /// The turn in which the look-ups were last examined.
    var sweptTurn = -1
    /// Checks connections in use that lost their local address; made when first needed.
    var lostAddressTimer: Timer?

    /// The budget of the turn, and the transfers and connections that wait for a later one.
    var budget = TurnBudget()
    var bulk = FIFOQueue<Bulk>()

    /// Transfers to start, to end, to resume and to send on, and handles to settle, when the turn ends.
    private var starting: [CurlTransfer] = []
    private var ending = FIFOQueue<CurlTransfer>()
    private var resuming: [CurlTransfer] = []
    private var sending: [CurlTransfer] = []
    /// Transfers that the server has answered before their end.
    var answered: [CurlTransfer] = []
    private var toSettle: [MultiHandle] = []
    private var isObservingTurn = false
    /// The last turn in which no time was left for more transfers.
    private var fullTurn = -1
    private var nextID = 1
    private(set) var (finishedTransfers, reusedTransfers) = (0, 0)

    /// Maximum number of rounds of admitting and settling in one turn: a transfer's end admits the next one at once.
    private static let roundsPerTurn = 4
    /// Transfers that are admitted between two readings of the clock; each costs some 50 us until it is sent.
    private static let admissionsPerReading = 16
    /// The time for the end of cancelled transfers in one turn.
    private static let endingMicroseconds = 3_000

    /// Creates a transport that works, and calls its delegates, on this loop. Throws ``TransportError/Code/unknown`` if
    /// libcurl cannot be used.
    /// - Parameter worker: reads the system's certificate authorities; the transport has its own if none is given.
    public init(
        loop: EventLoop, configuration: TransportConfiguration = TransportConfiguration(), worker: Worker? = nil
    ) throws(TransportError) {
        guard CurlLibrary.isReady else { throw TransportError(.unknown, "libcurl cannot be initialised") }
        self.loop = loop
        self.configuration = configuration
        connections = ConnectionTable(loop: loop)
        self.worker = worker ?? Worker(loop: loop)
        systemTrust = SystemTrust(path: configuration.authoritiesPath, worker: self.worker)
        queue = AdmissionQueue(
            limits: .init(
                connections: configuration.connections,
                streamsPerConnection: configuration.streamsPerConnection, waiting: configuration.queuedTransfers,
                paused: configuration.pausedTransfers))
        sweeper = Timer { [unowned self] in sweep() }
    }

    deinit {
        // The timers hold this object unowned: a weak reference would make every use of it slower.
        if let sweeper { loop.cancel(sweeper) }
        if let lostAddressTimer { loop.cancel(lostAddressTimer) }
        if let lookupTimer { loop.cancel(lookupTimer) }
        for pool in pools.values { if let probeTimer = pool.probeTimer { loop.cancel(probeTimer) } }
        for multi in multis.values { multi.close() }
        connections.emptyPools = []
    }

    // MARK: Transport

    /// The file of the system's certificate authorities.
    public var authoritiesPath: String { configuration.authoritiesPath }

    /// Notified of every connection that is opened or closed; retained, so it must not hold the transport.
    public var connectionObserver: (any ConnectionObserver)? {
        get { connections.observer }
        set { connections.observer = newValue }
    }

    /// Starts a transfer when the turn ends.
    public func start(_ request: TransportRequest, delegate: any TransferDelegate) -> any TransportTask {
        let transfer = CurlTransfer(id: nextID, request: request, delegate: delegate, transport: self)
        nextID += 1
        starting.append(transfer)
        observeTurn()
        return transfer
    }

    /// Ends a transfer when the turn ends.
    func cancel(_ transfer: CurlTransfer) {
        guard !transfer.hasEnded else { return }
        if transfer.failure == nil { transfer.failure = TransportError(.cancelled, "the transfer was cancelled") }
        _ = ending.append(transfer)
        observeTurn()
    }

    /// Pauses a transfer until ``resume(_:)``: its idle timeout stops, its connection does not count in the limits, and
    /// a waiting transfer leaves the queue.
    func pause(_ transfer: CurlTransfer) {
        guard !transfer.hasEnded else { return }
        transfer.deadlines.paused()
        switch transfer.phase {
        case .new, .ended: break
        case .waiting:
            leaveQueue(transfer)
            transfer.phase = .new
        case .running: releaseSlot(of: transfer)
        }
    }

    /// Changes the priority with which a transfer waits in the queue.
    func setPriority(_ priority: TransferPriority, of transfer: CurlTransfer) {
        guard !transfer.hasEnded, transfer.priority != priority else { return }
        transfer.priority = priority
        guard case .waiting = transfer.phase, let slot = transfer.slot else { return }
        transfer.slot = queue.move(slot, to: priority)
        observeTurn()
    }

    /// Resumes a paused transfer when the turn ends.
    func resume(_ transfer: CurlTransfer) {
        guard !transfer.hasEnded else { return }
        resuming.append(transfer)
        observeTurn()
    }

    /// Resumes sending when the turn ends: the body's source has more, or the rest is not needed.
    func resumeSending(_ transfer: CurlTransfer) {
        sending.append(transfer)
        observeTurn()
    }

    /// Ends all idle connections at once; their sockets are closed within a second.
    @discardableResult public func closeIdleConnections() -> Int { closePool() }

    // MARK: The turn's end

    func observeTurn() {
        guard !isObservingTurn else { return }
        isObservingTurn = true
        loop.afterObservers(self)
    }

    func settleAtTurnEnd(_ multi: MultiHandle) {
        guard !multi.needsSettling else { return }
        multi.needsSettling = true
        toSettle.append(multi)
        observeTurn()
    }

    func carryOut() {
        isObservingTurn = false
        for transfer in take(&starting) { enqueue(transfer) }
        endCancelled()
        for transfer in take(&resuming) { resumeNow(transfer) }
        for transfer in take(&sending) { send(transfer) }
        for transfer in take(&answered) { finishAnswered(transfer) }
        for _ in 0..<CurlTransport.roundsPerTurn {
            admitWaiting()
            if toSettle.isEmpty || !settle() { break }
        }
        serveBulk()
        _ = settle()
        if !toSettle.isEmpty { observeTurn() }
        maintainPool()
    }

    /// Ends transfers that were cancelled, at least one. The rest waits for the next turn: a connection whose response
    /// was not read takes the kernel 0.1 ms to close, and thousands may be cancelled in one turn.
    private func endCancelled() {
        guard !ending.isEmpty else { return }
        let slice = TimeSlice(microseconds: CurlTransport.endingMicroseconds)
        while let transfer = ending.popFirst() {
            retireIfSilent(transfer)
            finish(transfer, error: transfer.failure)
            if slice.isOver, !ending.isEmpty { return observeTurn() }
        }
    }

    /// Settles the handles that need it, at least one; returns false if some were left for the next turn because this
    /// one is old.
    private func settle() -> Bool {
        var left = take(&toSettle)[...]
        while let multi = left.popFirst() {
            multi.settle()
            guard !left.isEmpty, isTurnOld else { continue }
            toSettle = left + toSettle
            return false
        }
        return true
    }

    private func take<Element>(_ list: inout [Element]) -> [Element] {
        guard !list.isEmpty else { return [] }
        defer { list.removeAll(keepingCapacity: false) }
        return list
    }

    // MARK: The life of a transfer

    private func enqueue(_ transfer: CurlTransfer) {
        guard transfer.failure == nil, case .new = transfer.phase else { return }
        let isReady = !transfer.deadlines.isPaused && isTrustReady(for: transfer) && isSocketReady(for: transfer)
        guard isReady else { return armDeadlineTimer(of: transfer) }
        let request = transfer.request
        let pool: OriginPool
        do throws(TransportError) { pool = try self.pool(for: request) } catch { return finish(transfer, error: error) }
        transfer.pool = pool
        transfer.slot = queue.enqueue(
            transfer, in: pool.queueID, share: request.share, priority: transfer.priority,
            connections: request.connectionsPerHost)
        guard transfer.slot != nil else {
            let message = "the queue is full: \(configuration.queuedTransfers) transfers are waiting"
            return finish(transfer, error: TransportError(.resourceUnavailable, message, isRetryable: true))
        }
        transfer.phase = .waiting
        admitWaiting()
        if case .waiting = transfer.phase { armDeadlineTimer(of: transfer) }
    }

    /// Admits transfers: sixteen in any turn, and more while the turn is young. The others go in the next turn.
    private func admitWaiting() {
        if fullTurn == loop.turns { return observeTurn() }
        var admitted = 0
        while let admission = queue.next() {
            if admission.isFirst { startProbe(of: admission.element.pool) }
            admit(admission.element)
            admitted += 1
            guard admitted % CurlTransport.admissionsPerReading == 0 else { continue }
            if isTurnOld {
                fullTurn = loop.turns
                return observeTurn()
            }
        }
    }

    private func admit(_ transfer: CurlTransfer) {
        guard let pool = transfer.pool else { return }
        // One that was cancelled, and ends in a later turn, is not sent.
        guard transfer.failure == nil else {
            finishSlot(transfer)
            return finish(transfer, error: transfer.failure)
        }
        guard mayLookUp(transfer, in: pool) else {
            finishSlot(transfer)
            transfer.phase = .new
            return armDeadlineTimer(of: transfer)
        }
        transfer.deadlines.admitted(at: MonotonicTime.read())
        transfer.decoding = transfer.request.decoding
        let mayShare = pool.multi.key.httpProtocol == .multiplexed && queue.protocolState(of: pool.queueID) != .http1
        guard
            let easy = transfer.makeHandle(pool, mayShare: mayShare)
        else {
            finishSlot(transfer)
            return finish(transfer, error: .noMemory)
        }
        if let reason = pool.multi.add(transfer, easy) {
            easy.close()
            finishSlot(transfer)
            return finish(transfer, error: TransportError(.unknown, reason))
        }
        transfer.phase = .running(easy)
        armDeadlineTimer(of: transfer)
        transfer.delegate?.transferDidStart(transfer)
    }

    private func resumeNow(_ transfer: CurlTransfer) {
        guard transfer.deadlines.isPaused else { return }
        transfer.deadlines.resumed(at: loop.now)
        switch transfer.phase {
        case .waiting, .ended: break
        case .new: enqueue(transfer)
        case .running(let easy):
            acquireSlot(of: transfer)
            armDeadlineTimer(of: transfer)
            resumeInLibcurl(transfer, easy)
        }
    }

    private func send(_ transfer: CurlTransfer) {
        // What has arrived is read first.
        if transfer.hasCheckedForResponse, let known = transfer.connection { known.pool.multi.read(known) }
        transfer.connectionWasRead()
        guard transfer.deadlines.isBodyAwaited, case .running(let easy) = transfer.phase else { return }
        transfer.deadlines.isBodyAwaited = false
        transfer.deadlines.active(at: loop.now)
        // A paused transfer resumes in both directions at once.
        if !transfer.deadlines.isPaused { resumeInLibcurl(transfer, easy) }
    }

    /// Completes a transfer that libcurl has ended, or restarts it on another connection if that is safe.
    func complete(_ transfer: CurlTransfer, _ reported: CURLcode) {
        // What was stopped is another request; this one has its response.
        let result = transfer.hasStoppedRepeat ? CURLE_OK : reported
        if result != CURLE_OK { transfer.noteRefusal() }
        // Takes precedence over libcurl's result: half of a body without a length would pass for the whole.
        if transfer.failsWithLostAddress, transfer.failure == nil { transfer.failure = transfer.lostAddressError }
        if result == CURLE_SEND_ERROR || transfer.connection?.isAborted == true, transfer.canBeResent {
            return restart(transfer)
        }
        if transfer.hasRefusedReuse, transfer.failure == nil {
            transfer.hasRefusedReuse = false
            return restart(transfer)
        }
        if transfer.isQueuedAgain(afterRefusal: result) { return restart(transfer) }
        if result == CURLE_COULDNT_RESOLVE_HOST || result == CURLE_COULDNT_RESOLVE_PROXY {
            endLookup(of: transfer, isOver: true)
        }
        if result == CURLE_COULDNT_CONNECT, transfer.canTryEveryFamily {
            transfer.triesEveryFamily = true
            return restart(transfer)
        }
        if result != CURLE_OK, repeatTunnel(of: transfer, after: result) { return }
        transfer.retireConnection(after: result)
        finish(transfer, error: transfer.failure ?? transfer.error(for: result))
    }

    /// Queues a transfer that had to wait before it could be queued.
    func requeue(_ transfer: CurlTransfer) {
        guard case .new = transfer.phase else { return }
        starting.append(transfer)
        observeTurn()
    }

    func restart(_ transfer: CurlTransfer) {
        guard case .running(let easy) = transfer.phase else { return }
        detach(transfer, easy)
        transfer.phase = .new
        transfer.tunnelAnswers = TunnelAnswers()
        transfer.hasRepeatedTunnel = false
        starting.append(transfer)
    }

    /// Completes a transfer in any state. Must not be called from a callback of libcurl.
    func finish(_ transfer: CurlTransfer, error: TransportError?) {
        if transfer.hasEnded { return }
        let metrics = transfer.readMetrics()
        switch transfer.phase {
        case .new where transfer.deadlines.isUndecided: withdrawQuestion(of: transfer)
        case .new: leaveLookups(transfer)
        case .ended: break
        case .waiting: leaveQueue(transfer)
        case .running(let easy): detach(transfer, easy)
        }
        transfer.phase = .ended
        if let timer = transfer.timer { loop.cancel(timer) }
        transfer.timer = nil
        // An unreachable host never has a connection whose end would drop its pool.
        if let pool = transfer.pool, pool.connections.isEmpty { connections.emptyPools.append(pool) }
        finishedTransfers += 1
        if transfer.isReused { reusedTransfers += 1 }
        transfer.pool?.userPools.countTransfer(isReused: transfer.isReused)
        let delegate = transfer.delegate
        transfer.delegate = nil
        delegate?.transferDidComplete(transfer, TransferCompletion(error: error, metrics: metrics))
    }

    /// Takes a running transfer away from libcurl.
    func detach(_ transfer: CurlTransfer, _ easy: EasyHandle) {
        guard let pool = transfer.pool else { return }
        endLookup(of: transfer)
        pool.multi.remove(transfer, easy)
        easy.close()
        discardConnectAttempts(of: transfer)
        if let connection = transfer.connection { release(connection) }
        transfer.connection = nil
        acquireSlot(of: transfer)
        finishSlot(transfer)
        observeTurn()
    }
}

extension CurlTransport: TurnObserver {
    /// Starts, cancels, pauses and resumes the transfers as requested during the turn.
    public func turnDidEnd() { carryOut() }
}
