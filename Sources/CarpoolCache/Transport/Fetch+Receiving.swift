internal import CarpoolHTTP
internal import CarpoolSystem

// Events of the origin's task. Some come from inside libcurl.
extension Fetch: TransferDelegate {
    func transferDidStart(_ transfer: any TransportTask) {
        requested = transport.time()
        readers.first?.deliverStart()
    }

    func transferDidSecureConnection(_ transfer: any TransportTask) {
        guard let first = readers.first else { return }
        first.delegate?.transferDidSecureConnection(first)
    }

    func transfer(_ transfer: any TransportTask, didSendBodyBytes count: Int) {
        guard let first = readers.first else { return }
        first.delegate?.transfer(first, didSendBodyBytes: count)
    }

    func transfer(_ transfer: any TransportTask, didReceive head: ResponseHead) {
        received = transport.time()
        self.head = head
        let invalidation = CachePolicy.invalidation(by: head, of: cacheRequest)
        if !invalidation.isEmpty { transport.invalidate(invalidation, in: store, for: request) }
        let reception = policy.reception(
            of: head, for: cacheRequest, after: forwarding, in: entries.map(\.response), requested: requested,
            received: received)
        switch reception {
        case .deliver(let storing): deliver(head, storing)
        case .update(let update):
            phase = .updating(update)
            if let first = readers.first { first.delegate?.transfer(first, didValidateBy: head) }
        case .serve(let answer): phase = .serving(answer)
        case .sendAgain(let fields): phase = .sendingAgain(fields)
        }
    }

    /// The response passes on to the readers.
    private func deliver(_ head: ResponseHead, _ storing: CacheStoring) {
        self.storing = storing
        phase = .delivering
        for change in storing.changes {
            store.update(
                entries[change.index], change.response, wasInvalidated: invalidated[change.index])
        }
        if storing.response == nil, !storing.removed.isEmpty {
            store.remove(storing.removed.map { entries[$0] }, under: key)
        }
        if storing.response != nil, isOutdated { self.storing?.refusal = .purged }
        let length = head.fields.first("content-length").flatMap { Int($0) }
        let isTooLarge = length ?? 0 > store.maximumEntryBytes
        if isTooLarge, storing.response != nil { self.storing?.refusal = .tooLarge }
        isCollecting = storing.response != nil && !isTooLarge && canStore
        if isCollecting, let length, !head.fields.has("content-encoding") || !cacheRequest.decodes(head.fields) {
            body.reserve(min(length, Fetch.windowBytes))
        }
        if let first = readers.first { first.deliver(head) }
        admitWaiting(storing)
        if !isCollecting { release() }
    }

    private var canStore: Bool { cacheRequest.use.stores && !isOutdated }

    /// Those that wait get the response if it is the same for them; the others go alone, and for a time nobody waits.
    private func admitWaiting(_ storing: CacheStoring) {
        guard !waiting.isEmpty else {
            if storing.response != nil { transport.passes.clear(storeKey) }
            return
        }
        let all = waiting.takeAll()
        // What no other request may be given: all go alone, and for a time nobody waits.
        guard storing.mayBeShared, storing.response != nil else {
            transport.passes.mark(storeKey, at: transport.time())
            return forEach(of: all) { $0.decideAlone() }
        }
        share()
        pendingJoins = all.count
        var hasFitting = false
        forEach(of: all) { [self] task in
            pendingJoins -= 1
            if case .waiting = task.source {
                let fits = body.isWhole && !hasFailed && policy.fits(storing, task.cacheRequest)
                hasFitting = hasFitting || fits
                if fits { join(task) } else { task.decideAlone() }
            }
            guard pendingJoins == 0 else { return }
            if !hasFitting { transport.passes.mark(storeKey, at: transport.time()) }
            dropUnwanted()
            endIfUnwanted()
            didRead()
        }
    }

    /// Whether the response has failed.
    private var hasFailed: Bool { if case .over(let error) = phase { error != nil } else { false } }

    /// From now on the readers read what is kept, each up to its own timeouts.
    func share() {
        guard !isShared else { return }
        isShared = true
        for reader in readers {
            // They have all that has arrived.
            reader.position = body.end
            reader.watchTimeouts()
            outlast(reader)
        }
    }

    /// The origin's task ends later than those that read its response, so that each of them fails at its own timeout,
    /// and none at that of the request that was sent.
    private func outlast(_ reader: CacheTask) {
        let end = reader.request.resourceEnd(startedAt: reader.began)
        task?.extendTimeouts(
            idleMilliseconds: reader.request.idleTimeoutMilliseconds &+ Fetch.graceMilliseconds,
            resourceEnd: end.advanced(milliseconds: Fetch.graceMilliseconds))
    }

    /// Adds a reader of the whole body.
    func join(_ task: CacheTask) {
        guard let response = storing?.response, let answer = answer(from: response, for: task) else {
            return task.decideAlone()
        }
        task.stopTimer()
        task.source = .fetch(self)
        task.position = body.base
        task.outcome = answer.outcome
        // Its head is delivered when the turn ends: the task may just be starting.
        task.answer = answer
        readers.append(task)
        task.watchTimeouts()
        outlast(task)
        transport.continueAtTurnEnd(task)
    }

    /// The answer of a task that shares a response; `nil` if that is not for it. It is made once a second, since heads
    /// may be large and those that share them many.
    func answer(from response: CachedResponse, for task: CacheTask) -> CacheAnswer? {
        guard policy.fits(CacheStoring(response: response), task.cacheRequest) else { return nil }
        let now = transport.time()
        let second = now.milliseconds(since: response.received) / 1_000
        if let sharedAnswer, sharedAnswer.second == second { return sharedAnswer.answer }
        let answer = policy.sharedAnswer(response, for: task.cacheRequest, at: now)
        sharedAnswer = (second, answer)
        return answer
    }

    // MARK: The body

    func transfer(_ transfer: any TransportTask, didReceive bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        guard case .delivering = phase else {
            droppedBytes += bytes.count
            return droppedBytes > Fetch.maximumDroppedBytes ? .stop : .accept
        }
        guard isShared else { return passOn(bytes) }
        return keep(bytes)
    }

    /// Passes a piece to the only reader.
    private func passOn(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        guard let reader = readers.first else { return isBackground ? collect(bytes) : .stop }
        guard !reader.isPaused else { return .pause }
        let disposition = reader.deliver(bytes)
        switch disposition {
        case .accept: return collect(bytes)
        case .pause: reader.isPaused = true
        case .stop: stopCollecting()
        }
        return disposition
    }

    private func collect(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        guard isCollecting else { return isBackground ? .stop : .accept }
        guard makeRoom(for: bytes.count) else { return isBackground ? .stop : .accept }
        body.append(bytes)
        return .accept
    }

    /// Whether so many more bytes may be kept to be stored; otherwise nothing is stored.
    private func makeRoom(for count: Int) -> Bool {
        guard body.count &+ count <= store.maximumEntryBytes else {
            stopCollecting(.tooLarge)
            return false
        }
        if self.count(count) { return true }
        stopCollecting(.memoryFull)
        return false
    }

    /// Keeps a piece for the readers. If it is not stored too, the origin waits for the slowest of them.
    private func keep(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        if isCollecting { _ = makeRoom(for: bytes.count) }
        if !isCollecting {
            dropRead()
            guard body.count < Fetch.windowBytes else {
                holdBack()
                return .pause
            }
        }
        body.append(bytes)
        for reader in readers { transport.continueAtTurnEnd(reader) }
        return .accept
    }

    /// Counts bytes that are being received; false if the user has too many.
    private func count(_ bytes: Int) -> Bool {
        while body.count &+ bytes > countedBytes {
            guard transport.reception.add(ReceptionMemory.step, of: store.name.user) else { return false }
            countedBytes += ReceptionMemory.step
        }
        return true
    }

    /// The response will not be stored.
    func stopCollecting(_ reason: CacheReason? = nil) {
        guard isCollecting else { return }
        isCollecting = false
        release()
        if let reason { storing?.refusal = reason }
        guard !isShared else { return }
        body.clear()
        uncount()
    }

    // MARK: Readers at their own pace

    private func dropRead() {
        // Those that have not joined yet begin with the first byte.
        guard pendingJoins == 0 else { return }
        if let slowest = readers.map(\.position).min() { body.drop(before: slowest) }
    }

    private func holdBack() {
        isHoldingBack = true
        guard slowReaderTimer == nil, readers.count > 1 else { return }
        let timer = Timer { [self] in
            slowReaderTimer = nil
            if isHoldingBack { giveUpSlowest() }
        }
        slowReaderTimer = timer
        transport.loop.arm(timer, afterMilliseconds: Fetch.slowReaderMilliseconds)
    }

    /// Fails the readers that hold back the others for too long.
    private func giveUpSlowest() {
        guard let slowest = readers.map(\.position).min(), readers.contains(where: { $0.position > slowest }) else {
            return holdBack()
        }
        let slow = readers.filter { $0.position == slowest }
        readers.removeAll { $0.position == slowest }
        let error = TransportError(
            .networkConnectionLost, "the response was shared with other requests and read too slowly",
            isRetryable: true)
        forEach(of: slow) { task in
            if case .fetch = task.source { task.fail(error) }
        }
        didRead()
        if isHoldingBack { holdBack() }
    }

    /// A reader has read more, or is gone: the origin may go on.
    func didRead() {
        guard isHoldingBack else { return }
        dropRead()
        guard body.count < Fetch.windowBytes || readers.isEmpty else { return }
        isHoldingBack = false
        if let slowReaderTimer { transport.loop.cancel(slowReaderTimer) }
        slowReaderTimer = nil
        task?.resume()
    }
}
