internal import CarpoolHTTP
internal import CarpoolSystem

// From the source to the delegate. Everything here runs at the end of a turn, or in an event of the network.
extension CacheTask {
    /// Delivers what is there, up to the bytes of a turn. Returns whether there is more.
    func deliver() -> Bool {
        let hasMore = deliverPart()
        if !hasMore { watchReader() }
        return hasMore
    }

    private func deliverPart() -> Bool {
        switch source {
        case .failed(let error):
            complete(error)
            return false
        case .stored: return deliverStored()
        case .fetch(let fetch): return deliverShared(of: fetch)
        case .loading, .waiting, .ended: return false
        }
    }

    // MARK: Stored responses

    private func deliverStored() -> Bool {
        guard !isPaused, case .stored(let body) = source, !body.isReading else { return false }
        // The head waits for the first bytes of a file: if they are damaged, there is another response.
        if offerFile(body) { return false }
        guard body.isAtEnd || body.read(atMost: 1, { _ in true }) == true else {
            readFile(body)
            return false
        }
        deliverAnsweredHead()
        return deliverStoredBody()
    }

    /// Delivers the head of a stored or shared response, once.
    private func deliverAnsweredHead() {
        guard let answer else { return }
        deliverStart()
        self.answer = nil
        deliver(answer.head)
    }

    private func deliverStoredBody() -> Bool {
        var left = CacheTask.bytesPerTurn
        while left > 0, !isPaused, case .stored(var body) = source, !body.isAtEnd {
            guard let given = body.read(atMost: min(CacheTask.pieceBytes, left), { (deliver($0), $0.count) }) else {
                readFile(body)
                return false
            }
            guard case .stored = source else { return false }
            guard case .accept = given.0 else { return given.0.isStop ? stop() : hold() }
            body.position += given.1
            left -= given.1
            source = .stored(body)
        }
        guard case .stored(let rest) = source, !isPaused else { return false }
        guard rest.isAtEnd else { return true }
        complete(nil)
        return false
    }

    /// Offers a link to the file of a large body to the delegate, which may take it instead of pieces (HS-07).
    private func offerFile(_ body: StoredBody) -> Bool {
        guard !body.wasOffered, answer?.head.status == 200, let file = body.wholeFile, let disk = store.disk,
            let path = delegate?.transfer(self, pathForBodyOf: file.length)
        else { return false }
        var offered = body
        offered.wasOffered = true
        offered.isReading = true
        source = .stored(offered)
        watchDisk(reading: file.length)
        disk.link(file, to: path) { [self] result in didLink(result, file, to: path, in: disk) }
        return true
    }

    private func didLink(
        _ result: Result<Bool, BodyReadError>, _ file: StoredBodyFile, to path: String, in disk: DiskStore
    ) {
        let isLinked = (try? result.get()) ?? false
        guard case .stored(var body) = source, body.wasOffered, body.isReading else {
            if isLinked { disk.removeLink(path) }
            return
        }
        stopTimer()
        body.isReading = false
        if let entry = body.entry, result == .failure(.corrupt) || result == .failure(.missing) {
            guard body.isInMemory else { return didFindDamage(entry) }
            entry.savedFile = nil
        }
        guard isLinked else {
            source = .stored(body)
            return transport.continueAtTurnEnd(self)
        }
        body.position = body.range.upperBound
        source = .stored(body)
        deliverAnsweredHead()
        guard case .stored = source, let delegate else { return disk.removeLink(path) }
        deliveredBytes += file.length
        delegate.transfer(self, didReceiveFileOf: file.length, at: path)
        transport.continueAtTurnEnd(self)
    }

    private func readFile(_ body: StoredBody) {
        guard !body.isReading, let entry = body.entry, case .file(let file) = entry.body, let disk = store.disk else {
            return fail(.storedBodyIsDamaged)
        }
        var reading = body
        let reader = body.reader ?? disk.reader(of: file)
        reading.reader = reader
        reading.isReading = true
        source = .stored(reading)
        watchDisk(reading: 0)
        reader.read(from: body.position, atMost: body.range.upperBound &- body.position) { [self] result in
            guard case .stored(var now) = source, now.entry === entry, now.isReading else { return }
            if result != .failure(.busy) { stopTimer() }
            now.isReading = false
            switch result {
            case .success(let bytes) where !bytes.isEmpty:
                now.chunk = bytes
                now.chunkStart = now.position
                source = .stored(now)
                transport.continueAtTurnEnd(self)
            case .failure(.busy):
                source = .stored(now)
                transport.continueLater(self)
            case .failure(.failed(let reason)) where answer == nil:
                source = .stored(now)
                fail(TransportError(.unknown, "the stored body cannot be read: \(reason)", isRetryable: true))
            default: didFindDamage(entry)
            }
        }
    }

    /// A stored body is damaged: there is another response if nothing of it was delivered (HS-04).
    private func didFindDamage(_ entry: CacheEntry) {
        store.remove([entry], under: key)
        guard answer != nil else { return fail(.storedBodyIsDamaged) }
        answer = nil
        outcome = nil
        decide()
    }

    // MARK: Shared fetches

    /// Delivers the bytes of a fetch that the task shares with others, at its own pace.
    private func deliverShared(of fetch: Fetch) -> Bool {
        deliverAnsweredHead()
        var left = CacheTask.bytesPerTurn
        while left > 0, !isPaused {
            let given = fetch.body.read(from: position, atMost: min(CacheTask.pieceBytes, left)) {
                (deliver($0), $0.count)
            }
            guard let given else {
                fetch.didCatchUp(self)
                return false
            }
            guard case .fetch = source else { return false }
            guard case .accept = given.0 else {
                if given.0.isStop { fetch.leave(self) }
                return given.0.isStop ? stop() : hold()
            }
            position += given.1
            left -= given.1
            fetch.didRead()
        }
        return !isPaused
    }

    private func stop() -> Bool {
        fail(.taskCancelled)
        return false
    }

    private func hold() -> Bool {
        isPaused = true
        return false
    }

    // MARK: The delegate

    func deliverStart() {
        guard !hasDeliveredStart else { return }
        hasDeliveredStart = true
        delegate?.transferDidStart(self)
    }

    func deliver(_ head: ResponseHead) {
        firstByteMicroseconds = transport.loop.now.microseconds(since: began)
        delegate?.transfer(self, didReceive: head)
    }

    /// Passes a piece to the delegate.
    func deliver(_ bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        guard let delegate else { return .stop }
        let disposition = delegate.transfer(self, didReceive: bytes)
        if case .accept = disposition {
            deliveredBytes += bytes.count
            lastActivity = transport.loop.now
        }
        return disposition
    }

    /// Completes the task, with the metrics of its fetch if it has one.
    func complete(_ error: TransportError?, _ completion: TransferCompletion? = nil) {
        if case .ended = source { return }
        stopTimer()
        if error == nil, case .stored(let body) = source, let entry = body.entry, let outcome {
            store.use(entry, at: transport.time(), outcome: outcome, bytes: deliveredBytes)
        } else if error == nil, let outcome {
            store.counters.count(outcome)
        }
        source = .ended
        entries = []
        var metrics = completion?.metrics ?? fetchMetrics ?? localMetrics()
        metrics.cache = outcome
        metrics.decodedBodyBytes = max(metrics.decodedBodyBytes, Int64(deliveredBytes))
        let delegate = delegate
        self.delegate = nil
        delegate?.transferDidComplete(self, TransferCompletion(error: error, metrics: metrics))
    }

    private func localMetrics() -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.fetchStart = fetchStart
        metrics.firstByteMicroseconds = firstByteMicroseconds
        metrics.endMicroseconds = MonotonicTime.read().microseconds(since: began)
        return metrics
    }
}

extension BodyDisposition {
    fileprivate var isStop: Bool {
        if case .stop = self { return true }
        return false
    }
}

extension TransportError {
    /// A stored body is damaged, and a part of it was delivered.
    static var storedBodyIsDamaged: TransportError {
        TransportError(
            .storedBodyIsDamaged, "the stored body is damaged; it was removed, so the next request gets another",
            isRetryable: true)
    }
}
