internal import CarpoolHTTP
internal import CarpoolSystem

// From the request to the source of its response.
extension CacheTask {
    /// How long a request waits for the disk, in milliseconds.
    static let diskMilliseconds = 1_000

    /// Decides where the response comes from, at once unless the disk has to be asked.
    func decide() {
        guard readsStore else { return fetchWithoutStore() }
        guard !hasGivenUpDisk else { return goAroundDisk() }
        guard !store.mustOpenFirst else {
            waitForDisk()
            store.disk?.whenOpen { [self] in
                if case .loading = source { decide() }
            }
            return
        }
        if let known = store.entries(under: key) { return decide(with: known) }
        waitForDisk()
        store.load(key) { [self] loaded in
            guard case .loading = source else { return }
            decide(with: loaded)
        }
    }

    /// Whether the store is asked: for `GET` and `HEAD` without a body, unless the kind or the policy excludes it.
    private var readsStore: Bool {
        guard request.method == .get || request.method == .head, case .none = request.body else { return false }
        return !values.isExcluded && values.policy != .noStore
    }

    private func decide(with known: [CacheEntry]) {
        stopTimer()
        entries = known
        carryOut(policy.action(for: cacheRequest, in: known.map(\.response), at: transport.time()))
    }

    private func carryOut(_ action: CacheAction) {
        switch action {
        case .serve(let answer): serve(answer)
        case .serveAndRevalidate(let answer, let forwarding):
            serve(answer)
            transport.validateInBackground(self, forwarding)
        case .revalidate(let forwarding), .forward(let forwarding): fetch(forwarding)
        case .fail(let reason):
            outcome = CacheOutcome(.bypass, reason: reason.rawValue)
            fail(TransportError(.resourceUnavailable, reason.explanation))
        }
    }

    // MARK: The disk

    private func waitForDisk() {
        source = .loading
        hasWaited = true
        guard timer == nil else { return }
        let now = transport.loop.now
        let left = resourceEnd.microseconds(since: now) / 1_000
        let own = min(request.idleTimeoutMilliseconds, left)
        let end = now.advanced(milliseconds: min(CacheTask.diskMilliseconds, own / 2))
        arm(at: end) { [self] in
            if case .loading = source { goAroundDisk() }
        }
    }

    /// Asks the origin as if nothing were stored, because the disk does not answer; nothing is stored.
    func goAroundDisk() {
        stopTimer()
        hasGivenUpDisk = true
        (entries, answer, outcome) = ([], nil, nil)
        let forwarding = CacheForwarding(forward: .bypass, reason: .storeOff, stores: false)
        if values.policy == .returnCacheDontLoad { return carryOut(.fail(.storeOff)) }
        Fetch(for: self, forwarding, flight: nil).begin(self)
    }

    /// Watches the reading of a stored body: before its first byte the origin may be asked instead.
    /// - Parameter count: the bytes that are read.
    func watchDisk(reading count: Int) {
        guard timer == nil else { return }
        let first = CacheTask.diskMilliseconds &+ count / CacheTask.pieceBytes
        let limit = answer == nil ? request.idleTimeoutMilliseconds : min(first, request.idleTimeoutMilliseconds)
        let end = transport.loop.now.advanced(milliseconds: limit)
        arm(at: min(end, resourceEnd)) { [self] in
            guard case .stored = source else { return }
            guard MonotonicTime.read() < resourceEnd else { return fail(resourceTimeout) }
            guard answer == nil else { return goAroundDisk() }
            fail(TransportError(.timedOut, "the stored body was not read in time", timeout: "idle", isRetryable: true))
        }
    }

    /// Serves a stored response, or one that was made here, when the turn ends.
    func serve(_ answer: CacheAnswer) {
        self.answer = answer
        outcome = answer.outcome
        source = .stored(StoredBody(answer, of: entries))
        transport.continueAtTurnEnd(self)
    }

    /// Asks the origin without the store: for a method or a kind whose responses are not stored.
    private func fetchWithoutStore() {
        let isRead = request.method == .get || request.method == .head
        let forwarding = CacheForwarding(
            forward: isRead ? .bypass : .method,
            reason: values.policy == .noStore ? .policy : values.isExcluded ? .kind : .method, stores: false)
        carryOut(policy.withoutResponse(cacheRequest, forwarding))
    }

    /// Asks the origin, or waits for the response to an identical request.
    func fetch(_ forwarding: CacheForwarding) {
        guard values.coalesces, policy.mayShare(cacheRequest, after: forwarding) else {
            return Fetch(for: self, forwarding, flight: nil).begin(self)
        }
        guard mayWait, !transport.passes.contains(storeKey, at: transport.time()) else {
            var alone = forwarding
            alone.reason = reasonNotToWait ?? .pass
            return Fetch(for: self, alone, flight: nil).begin(self)
        }
        let signature = policy.sharingSignature(of: cacheRequest, in: entries.map(\.response))
        let flight = FlightKey(key: storeKey, signature: signature)
        if let known = transport.flights[flight], known.accepts(self) { return known.add(self) }
        // One that began before anything was stored has compared all fields.
        if !entries.isEmpty, !transport.flights.isEmpty {
            let whole = policy.sharingSignature(of: cacheRequest, in: [])
            let other = transport.flights[FlightKey(key: storeKey, signature: whole)]
            if let other, other.accepts(self) { return other.add(self) }
        }
        let fetch = Fetch(for: self, forwarding, flight: flight)
        fetch.waiting.failedLeaders = failedLeaders
        fetch.begin(self)
    }

    /// Decides again, as the first of those that waited for a fetch that has failed (HX-05), or as another of them.
    func decideAgain(failedLeaders count: Int = 0) {
        guard case .waiting = source else { return }
        stopTimer()
        failedLeaders = count
        decide()
    }

    /// Decides again after a wait that was in vain, and does not wait any more.
    func decideAlone(_ reason: CacheReason = .pass) {
        guard case .waiting = source else { return }
        stopTimer()
        reasonNotToWait = reason
        mayWait = false
        decide()
    }

    // MARK: Timers

    /// Waits for the head of a fetch (HX-04): as long as the store allows, or until its own timeout.
    func wait(for fetch: Fetch) {
        source = .waiting(fetch)
        hasWaited = true
        store.counters.waits += 1
        let own = min(request.idleTimeoutMilliseconds, request.queueTimeoutMilliseconds ?? .max)
        let end = began.advanced(milliseconds: min(values.settings.coalesceWaitMilliseconds, own))
        arm(at: min(end, resourceEnd)) { [self] in
            guard case .waiting(let fetch) = source else { return }
            fetch.leave(self)
            decideAlone(.busy)
        }
    }

    /// When the whole request has to be over.
    private var resourceEnd: MonotonicTime { request.resourceEnd(startedAt: began) }

    private var resourceTimeout: TransportError {
        TransportError(
            .timedOut, "not completed within \(request.resourceTimeoutMilliseconds) ms", timeout: "resource",
            isRetryable: true)
    }

    /// Watches the time of a task whose reader takes nothing of a response that is there. The origin's task, or a timer
    /// of its own, ends any other.
    func watchReader() {
        guard timer == nil else { return }
        switch source {
        case .stored: break
        case .fetch(let fetch) where fetch.task == nil: break
        case .loading, .waiting, .fetch, .failed, .ended: return
        }
        arm(at: resourceEnd) { [self] in
            if case .fetch(let fetch) = source { fetch.leave(self) }
            fail(resourceTimeout)
        }
    }

    /// Watches the timeouts of a task that reads the response to another one's request.
    func watchTimeouts() {
        lastActivity = transport.loop.now
        armTimeout()
    }

    func armTimeout() {
        let idle = lastActivity.advanced(milliseconds: request.idleTimeoutMilliseconds)
        let whole = resourceEnd
        arm(at: isPaused ? whole : min(idle, whole)) { [self] in
            guard case .fetch(let fetch) = source else { return }
            let now = MonotonicTime.read()
            let isOver = now >= whole
            let isIdle =
                !isPaused && now >= lastActivity.advanced(milliseconds: request.idleTimeoutMilliseconds)
            guard isOver || isIdle else { return armTimeout() }
            fetch.leave(self)
            guard !isOver else { return fail(resourceTimeout) }
            let text = "no byte was received for \(request.idleTimeoutMilliseconds) ms"
            fail(TransportError(.timedOut, text, timeout: "idle", isRetryable: true))
        }
    }

    private func arm(at deadline: MonotonicTime, _ action: @escaping () -> Void) {
        stopTimer()
        let timer = Timer { [self] in
            self.timer = nil
            action()
        }
        self.timer = timer
        transport.loop.arm(timer, at: deadline)
    }

    func stopTimer() {
        if let timer { transport.loop.cancel(timer) }
        timer = nil
    }
}
