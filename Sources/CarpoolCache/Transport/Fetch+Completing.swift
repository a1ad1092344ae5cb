internal import CarpoolHTTP
internal import CarpoolSystem

// The end of the origin's task.
extension Fetch {
    func transferDidComplete(_ transfer: any TransportTask, _ completion: TransferCompletion) {
        task = nil
        switch phase {
        case .over: return
        case .sent: failBeforeHead(completion)
        case .delivering: finish(completion)
        case .serving(let answer): serve(answer, completion.metrics, isOffline: false)
        case .updating(let update): finish(update, completion)
        case .sendingAgain(let fields): sendAgain(fields, completion)
        }
        if let slowReaderTimer { transport.loop.cancel(slowReaderTimer) }
        slowReaderTimer = nil
        if isBackground { transport.backgroundDidEnd(self) }
    }

    private func sendAgain(_ fields: [HTTPField], _ completion: TransferCompletion) {
        guard let first = readers.first, !first.isCancelled else {
            // A validation in the background whose 304 is for nothing that is stored is not repeated at once.
            if isBackground { transport.backoffs.failed(storeKey, at: transport.time()) }
            for reader in over(completion.error) { end(reader, .taskCancelled, completion.metrics) }
            return forEach(of: waiting.takeAll()) { $0.decideAgain() }
        }
        phase = .sent
        droppedBytes = 0
        // Once: a 304 to a request without conditions of the store passes on as it is (HV-03).
        forwarding.candidates = []
        send(fields)
        if first.isPaused, isAlone(first) { task?.pause() }
    }

    // MARK: Failures

    /// No head came: a stored response may be served instead (HV-08); else the error is that of the leader alone.
    private func failBeforeHead(_ completion: TransferCompletion) {
        let error = completion.error ?? TransportError(.badServerResponse, "the response has no head")
        if error.code != .cancelled,
            let answer = policy.answer(
                afterFailure: error, for: cacheRequest, after: forwarding, in: entries.map(\.response),
                at: transport.time())
        {
            return serve(answer, completion.metrics, isOffline: true)
        }
        if isBackground { transport.backoffs.failed(storeKey, at: transport.time()) }
        release()
        for reader in over(error) { end(reader, error, completion.metrics) }
        switch waiting.succeed() {
        case .none: break
        case .release(let all): forEach(of: all) { $0.decideAlone() }
        case .promote(let first, let others):
            first.decideAgain(failedLeaders: waiting.failedLeaders)
            forEach(of: others) { $0.decideAgain() }
        }
    }

    /// Nothing follows. Returns those that read it.
    @discardableResult private func over(_ error: TransportError?) -> [CacheTask] {
        phase = .over(error)
        release()
        return readers
    }

    private func end(_ reader: CacheTask, _ error: TransportError?, _ metrics: TransferMetrics) {
        if isFirst(reader) { reader.fetchMetrics = metrics }
        if reader.outcome == nil { reader.outcome = forwarding.outcome(storing, isStored: false) }
        reader.complete(error)
    }

    private func isFirst(_ reader: CacheTask) -> Bool { reader.id == firstID }

    // MARK: Stored responses in place of the origin's

    /// Serves a stale response because the origin has failed, to those that wait too, if it is for them.
    private func serve(_ answer: CacheAnswer, _ metrics: TransferMetrics, isOffline: Bool) {
        if isBackground { transport.backoffs.failed(storeKey, at: transport.time()) }
        for reader in over(nil) { serve(answer, to: reader, metrics) }
        let variants = entries.map(\.response)
        forEach(of: waiting.takeAll()) { [self] task in
            guard case .waiting = task.source,
                let answer = policy.staleAnswer(
                    for: task.cacheRequest, after: forwarding, in: variants, at: transport.time(),
                    isOffline: isOffline)
            else { return task.decideAlone() }
            task.stopTimer()
            task.entries = entries
            task.serve(answer)
        }
    }

    private func serve(_ answer: CacheAnswer, to reader: CacheTask, _ metrics: TransferMetrics) {
        guard !reader.isCancelled else { return end(reader, .taskCancelled, metrics) }
        reader.fetchMetrics = metrics
        reader.serve(answer)
    }

    /// A 304 has arrived.
    private func finish(_ update: CacheUpdate, _ completion: TransferCompletion) {
        let entry = entries[update.index]
        if let response = update.response,
            !store.removals.concerns(key.url, since: removals, purgesOnly: true)
        {
            // What the origin says to a caller with credentials is not for the others (HK-04).
            let isForAll = cacheRequest.credentials == nil || entry.response.credentials != nil
            if isForAll { store.update(entry, response, wasInvalidated: invalidated[update.index]) }
            transport.backoffs.succeeded(storeKey)
            if isBackground { store.report(.revalidated(url: key.url)) }
        } else {
            store.remove([entry], under: key)
        }
        let (all, waiters) = (over(nil), waiting.takeAll())
        for reader in all { serve(update.answer, to: reader, completion.metrics) }
        // Each decides by what is stored now: a response without freshness is validated for each of them.
        forEach(of: waiters) { [self] task in
            guard case .waiting = task.source else { return }
            guard let response = update.response, var answer = answer(from: response, for: task) else {
                return task.decideAlone()
            }
            task.stopTimer()
            task.entries = entries
            answer.index = update.index
            task.serve(answer)
        }
    }

    // MARK: The origin's response

    private func finish(_ completion: TransferCompletion) {
        let error = completion.error
        let isStored = error == nil && isCollecting && store(completion)
        if error == nil, !isStored, let storing, storing.response != nil {
            // What is older than a response that is not stored must not be served after it.
            store.remove(storing.removed.map { entries[$0] }, under: key)
        }
        if error != nil { storing?.refusal = .incomplete }
        if isBackground {
            error == nil
                ? transport.backoffs.succeeded(storeKey) : transport.backoffs.failed(storeKey, at: transport.time())
        }
        let all = over(error)
        let first = all.first(where: isFirst)
        first?.outcome = forwarding.outcome(storing, isStored: isStored)
        guard isShared else {
            for reader in all { reader.complete(error, reader === first ? completion : nil) }
            return
        }
        first?.fetchMetrics = completion.metrics
        // Each reader ends when it has read everything.
        guard let error else { return all.forEach(transport.continueAtTurnEnd) }
        forEach(of: all) { [self] in end(sharing: $0, error) }
    }

    /// A reader that has delivered nothing of a response that has failed asks again.
    private func end(sharing reader: CacheTask, _ error: TransportError) {
        guard case .fetch = reader.source else { return }
        guard !isFirst(reader), reader.answer != nil else { return transport.continueAtTurnEnd(reader) }
        readers.removeAll { $0 === reader }
        (reader.answer, reader.outcome) = (nil, nil)
        reader.source = .waiting(self)
        reader.decideAlone()
    }

    /// A reader of a shared fetch has read all that is there.
    func didCatchUp(_ reader: CacheTask) {
        guard case .over(let error) = phase, reader.position >= body.end || error != nil else { return }
        readers.removeAll { $0 === reader }
        dropUnwanted()
        guard let error, !isFirst(reader) else { return reader.complete(error) }
        // The error names limits of the one whose request it was.
        reader.complete(
            TransportError(
                .networkConnectionLost, "the request whose response this one has shared has failed: \(error.message)",
                isRetryable: true))
    }

    /// Proposes the response for storing. Returns whether it is stored already.
    private func store(_ completion: TransferCompletion) -> Bool {
        guard var response = storing?.response, body.isWhole else { return false }
        guard !isOutdated else {
            storing?.refusal = .purged
            return false
        }
        response.bodyBytes = body.count
        let storage: CacheProposal.Storage = goesToDisk ? .disk : .memory
        var isStored = false
        var isDecided = false
        let proposal = CacheProposal(
            head: ResponseHead(status: response.status, httpVersion: response.httpVersion, fields: response.fields),
            body: body.bytes, ttlMilliseconds: storing?.ttlMilliseconds, storage: storage
        ) { [self] decision in
            isDecided = true
            isStored = carryOut(decision, response)
        }
        if let first = readers.first, let delegate = first.delegate {
            delegate.transfer(first, proposesToStore: proposal)
        } else {
            proposal.decide(.store)
        }
        if !isStored, storing?.refusal == nil { storing?.refusal = isDecided ? .handler : .handlerAsked }
        return isStored
    }

    private var goesToDisk: Bool {
        store.settings.diskBytes > 0 && store.disk?.wake() ?? false
            && (storing?.isSecret != true || store.settings.storesSecretsOnDisk)
    }

    /// Stores a response as the delegate has decided. Returns whether it is stored.
    private func carryOut(_ decision: CacheProposal.Decision, _ proposed: CachedResponse) -> Bool {
        var response = proposed
        var bytes = body.bytes
        var isOnDisk = goesToDisk
        switch decision {
        case .doNotStore: return false
        case .store: break
        case .modify(let fields, let removed, let replacement, let ttl, let storage):
            response.fields.change(setting: fields, removing: removed)
            if let replacement {
                bytes = replacement
                response.fields.change(setting: [], removing: ["content-length"])
                response.fields.append(name: "Content-Length", value: String(bytes.count))
            }
            // The handler may have set another `Vary`.
            guard cacheRequest.select(&response) else {
                storing?.refusal = .varyStar
                return false
            }
            response.bodyBytes = bytes.count
            response.ttlMilliseconds = ttl ?? response.ttlMilliseconds
            isOnDisk = isOnDisk && storage != .memory
        }
        guard !isOutdated else { return false }
        guard bytes.count <= (isOnDisk ? store.maximumEntryBytes : store.maximumMemoryEntryBytes) else {
            storing?.refusal = store.disk?.wake() == false ? .storeOff : .tooLarge
            return false
        }
        let entry = CacheEntry(key: key, response: response, body: .memory(bytes), lastUse: received)
        store.store(entry, onDisk: isOnDisk, ttlMilliseconds: storing?.ttlMilliseconds) { [self] now in
            replaced(among: now)
        }
        return true
    }

    /// The stored responses that the new one replaces: those that were chosen when the head came, or, if others have
    /// been stored since, those that the rules choose now.
    private func replaced(among now: [CacheEntry]) -> [CacheEntry] {
        if now.count == entries.count, zip(now, entries).allSatisfy({ $0 === $1 }) {
            return storing?.removed.map { entries[$0] } ?? []
        }
        guard let head else { return [] }
        let storing = policy.storing(
            head, of: cacheRequest, in: now.map(\.response), requested: requested, received: received)
        return storing.removed.map { now[$0] }
    }
}
