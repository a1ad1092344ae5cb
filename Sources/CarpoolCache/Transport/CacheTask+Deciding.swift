internal import CarpoolHTTP
internal import CarpoolSystem

// From the request to the source of its response.
extension CacheTask {
    /// Decides where the response comes from, at once unless the disk has to be asked.
    func decide() {
        guard !store.mustOpenFirst else {
            source = .loading
            store.disk?.whenOpen { [self] in
                if case .loading = source { decide() }
            }
            return
        }
        guard cacheRequest.reads, !values.isExcluded, values.policy != .noStore else { return fetchWithoutStore() }
        if let known = store.entries(under: key) { return decide(with: known) }
        source = .loading
        store.load(key) { [self] loaded in
            guard case .loading = source else { return }
            decide(with: loaded)
        }
    }

    private func decide(with known: [CacheEntry]) {
        entries = known
        let action = policy.action(
            for: cacheRequest, in: known.map(\.response), at: transport.time())
        switch action {
        case .serve(let answer): serve(answer)
        case .serveAndRevalidate(let answer, let forwarding):
            guard values.revalidatesInBackground else { return fetch(forwarding) }
            serve(answer)
            transport.validateInBackground(self, forwarding)
        case .revalidate(let forwarding), .forward(let forwarding): fetch(forwarding)
        case .fail(let reason):
            outcome = CacheOutcome(.bypass, reason: reason.rawValue)
            fail(TransportError(.resourceUnavailable, reason.explanation))
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
        Fetch(for: self, forwarding, flight: nil).begin(self)
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
        store.counters.waits += 1
        let own = min(
            request.idleTimeoutMilliseconds, request.resourceTimeoutMilliseconds,
            request.queueTimeoutMilliseconds ?? .max)
        arm(at: began.advanced(milliseconds: min(values.settings.coalesceWaitMilliseconds, own))) { [self] in
            guard case .waiting(let fetch) = source else { return }
            fetch.leave(self)
            decideAlone(.busy)
        }
    }

    /// Watches the timeouts of a task that reads the response to another one's request.
    func watchTimeouts() {
        lastActivity = transport.loop.now
        armTimeout()
    }

    func armTimeout() {
        let idle = lastActivity.advanced(milliseconds: request.idleTimeoutMilliseconds)
        let whole = began.advanced(milliseconds: request.resourceTimeoutMilliseconds)
        arm(at: isPaused ? whole : min(idle, whole)) { [self] in
            guard case .fetch(let fetch) = source else { return }
            let now = MonotonicTime.read()
            let isOver = now >= began.advanced(milliseconds: request.resourceTimeoutMilliseconds)
            let isIdle =
                !isPaused && now >= lastActivity.advanced(milliseconds: request.idleTimeoutMilliseconds)
            guard isOver || isIdle else { return armTimeout() }
            fetch.leave(self)
            let text = isOver ? "the request took too long" : "no byte arrived in time"
            fail(
                TransportError(.timedOut, text, timeout: isOver ? "resource" : "idle", isRetryable: true))
        }
    }

    private func arm(at deadline: MonotonicTime, _ action: @escaping () -> Void) {
        stopTimer()
        let timer = Timer(action)
        self.timer = timer
        transport.loop.arm(timer, at: deadline)
    }

    func stopTimer() {
        if let timer { transport.loop.cancel(timer) }
        timer = nil
    }
}
