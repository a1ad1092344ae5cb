internal import CarpoolHTTP
internal import CarpoolSystem

// Bodies are written in the background, so that the end of a transfer comes before its last byte is in a file.
extension Session {
    /// How long a failed or cancelled request waits for a disk, in milliseconds, unless its time is over. A successful
    /// one waits until its body is written or its time is over, because it is not complete without it.
    private static let settleTimeoutMilliseconds = 1_000

    // MARK: The end of a transfer

    /// Whether the end of a transfer may be announced: not before its body is written. When it is,
    /// ``deliverDeferredCompletion(_:)`` follows.
    func isSettled(_ request: Request, _ completion: TransferCompletion) -> Bool {
        if request.settlement == nil {
            guard request.mustSettle else { return true }
            settle(request, completion)
        }
        guard let settlement = request.settlement else { return true }
        if !settlement.isDone, completion.error != nil || request.error != nil {
            limit(settlement, of: request) { [self] in deliverDeferredCompletion(request) }
        }
        return settlement.isDone
    }

    private func settle(_ request: Request, _ completion: TransferCompletion) {
        let settlement = Settlement()
        request.settlement = settlement
        let isWhole = completion.error == nil && request.error == nil && !request.hasFailedRedirect
        completeBody(of: request, settlement) { [self] in
            let end = { [self] in
                guard endWait(settlement) else { return }
                deliverDeferredCompletion(request)
            }
            guard let receiver = request.receiver else { return end() }
            receiver.settle(request, isWhole: isWhole && request.error == nil, completion: end)
        }
    }

    private func completeBody(of request: Request, _ settlement: Settlement, then: @escaping () -> Void) {
        let body = request.body
        body.complete(files, share: files.shareOfRequest(request)) { completion in
            guard request.settlement === settlement, !settlement.isDone else { return }
            do throws(SessionError) { try request.body.adopt(completion) } catch { request.recordError(error) }
            then()
        }
    }

    /// Passes the deferred end of the transfer to the delegate again.
    private func deliverDeferredCompletion(_ request: Request) {
        guard let completion = request.deferredCompletion, let transfer = request.transfer else { return }
        request.deferredCompletion = nil
        delegate.transferDidComplete(transfer, completion.value)
    }

    /// Ends the wait. Returns `false` if it had ended already.
    private func endWait(_ settlement: Settlement) -> Bool {
        guard !settlement.isDone else { return false }
        settlement.isDone = true
        if let timer = settlement.timer { scheduler.cancel(timer) }
        settlement.timer = nil
        return true
    }

    /// Limits the wait of the request to ``settleTimeoutMilliseconds``. A body that is not complete by then is dropped.
    private func limit(_ settlement: Settlement, of request: Request, then: @escaping () -> Void) {
        guard settlement.timer == nil else { return }
        let milliseconds = request.machine.deadline.hasPassed ? 0 : Session.settleTimeoutMilliseconds
        let timer = Timer { [self] in
            guard endWait(settlement) else { return }
            if case .file(let file) = request.body.storage, file.path == nil { request.body.discard() }
            then()
        }
        settlement.timer = timer
        scheduler.arm(timer, afterMilliseconds: milliseconds)
    }

    /// Fails the request because a file cannot be written.
    func didFailToStoreBody(of request: Request, _ error: SessionError) {
        guard case .tasked = request.machine.state else { return }
        request.recordError(error)
        // The completion of the settlement gets the error too.
        guard request.settlement == nil else { return }
        request.body.discard()
        request.transfer?.cancel()
    }

    // MARK: The end of a request

    /// Whether a request that is over has no files to close or remove.
    func hasNoFiles(_ request: Request) -> Bool { request.receiver == nil && isBodyComplete(of: request) }

    private func isBodyComplete(of request: Request) -> Bool {
        !request.body.mustBeCompleted || request.settlement?.isDone == true
    }

    /// Closes the files, and removes those that are not wanted; then only the serializers are left.
    func settleEnd(of request: Request, then: @escaping () -> Void) {
        let isComplete = isBodyComplete(of: request)
        let settlement = Settlement()
        request.settlement = settlement
        let end = { [self] in
            if endWait(settlement) { then() }
        }
        let finishReceiver = {
            guard let receiver = request.receiver else { return end() }
            receiver.requestWillFinish(request, completion: end)
        }
        if isComplete { finishReceiver() } else { completeBody(of: request, settlement, then: finishReceiver) }
        if !settlement.isDone { limit(settlement, of: request, then: then) }
    }
}

// MARK: Events of the body's file
extension Request {
    /// Whether a part of the body is not written yet.
    var mustSettle: Bool {
        !isRedirected && (body.mustBeCompleted || receiver?.mustSettle == true)
    }

    /// Whether the response is a redirect to follow.
    var isRedirected: Bool {
        if case .follow = redirection { return true }
        return false
    }

    /// Whether its redirect cannot be followed.
    var hasFailedRedirect: Bool {
        if case .fail = redirection { return true }
        return false
    }

    /// Resumes a body that was paused because its file's buffer was full.
    public func continueBody() { session.proceed(self) }

    /// Fails the request because its body's file cannot be written.
    public func failToStoreBody(_ error: SessionError) { session.didFailToStoreBody(of: self, error) }

    /// Whether it writes no more: it is over or cancelled.
    public var hasStoppedWriting: Bool { isOver || state == .cancelled }

    /// Runs blocking work on a background thread, counted for the request. It is not refused, since the request is in
    /// progress.
    public func inBackground<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
    ) {
        let files = session.files
        files.runAlways(for: files.shareOfRequest(self), work, then: then)
    }

    /// Moves the body to a file of the session's spool, if it is in memory. If that fails it stays in memory, and the
    /// completion gets the error.
    public func spillBody(completion: @escaping (SessionError?) -> Void) {
        if spilling != nil {
            spilling?.append(completion)
            return
        }
        let (count, attempt) = (body.count, attempts.count)
        do throws(SessionError) {
            guard let file = try body.spilled(to: session.spool, owner: self) else { return completion(nil) }
            spilling = [completion]
            file.complete { [self] result in
                var failure: SessionError?
                if case .failure(let error) = result { failure = error }
                let isStillThere = attempts.count == attempt && body.count == count && body.isKeptInMemory
                // A file that was removed before it was complete has no path: the body in memory stays.
                let isKept = failure == nil && isStillThere && file.path != nil
                if isKept { body.adopt(file) } else { file.discard() }
                let waiting = spilling ?? []
                spilling = nil
                session.scheduler.forEach(of: waiting) { [failure] in $0(failure) }
            }
        } catch {
            completion(error)
        }
    }
}
