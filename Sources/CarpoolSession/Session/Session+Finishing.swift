internal import CarpoolHTTP
internal import CarpoolSystem

// The second half of the pipeline: from the end of a task to the end of its request, or to the next attempt.
extension Session {
    /// The last hop of a task is over, and its metrics are known (TM-02); the error is the transport's alone.
    func didEndTask(_ request: Request, _ error: TransportError?) {
        let explanation = error.map { classify($0, of: request) }
        handle(.ended(explanation?.error, explanation?.failure), of: request)
    }

    /// Passes the end of a task to its receiver before the validators run: a client's validator gets the file of the
    /// body.
    func endTask(_ request: Request) {
        request.transfer = nil
        // A session that ends aborts its requests (session model 2.14).
        guard !request.isAborted, let receiver = request.receiver else { return }
        do throws(SessionError) {
            try receiver.request(request, didEndTaskWith: request.machine.taskError)
        } catch {
            request.recordError(error)
        }
    }

    // MARK: Validating

    /// Asks a validator; after the first failure no other is asked (VA-08).
    func validate(_ request: Request, by index: Int) {
        let validators = request.parameters.options.validators.value
        guard request.error == nil, request.response != nil, index < validators.count else {
            return accept(request)
        }
        let generation = request.machine.nextGeneration()
        validators[index].validate(request) { [self] error in
            guard request.machine.isCurrent(generation) else { return }
            handle(.validated(validators[index].name, index: index, error: error), of: request)
        }
    }

    /// All validators accepted the response: the receiver processes the body.
    private func accept(_ request: Request) {
        failByRetryPolicy(request)
        guard request.error == nil, let receiver = request.receiver else {
            handle(.accepted(nil), of: request)
            return
        }
        let generation = request.machine.nextGeneration()
        receiver.requestDidPassValidation(request) { [self] error in
            guard request.machine.isCurrent(generation) else { return }
            handle(.accepted(error), of: request)
        }
    }

    /// Fails a response whose status the retry policy retries, although no validator checks it.
    private func failByRetryPolicy(_ request: Request) {
        guard request.error == nil, let status = request.response?.status else { return }
        if statusIsRetried(status, request) { request.recordError(.unacceptableStatusCode(status)) }
    }

    /// Whether a retry policy fails a response by its status alone.
    func statusIsRetried(_ status: Int, _ request: Request) -> Bool {
        fails(status, by: configuration.interceptor) || fails(status, by: request.parameters.interceptor)
            || credentialIsReplaced(status, request)
    }

    private func fails(_ status: Int, by retrier: (any RequestRetrier)?) -> Bool {
        retrier?.statusesWithoutValidation.contains(status) ?? false
    }

    /// Whether a response refuses a credential that is replaced: then no caller sees it.
    func credentialIsReplaced(_ status: Int, _ request: Request) -> Bool {
        guard status == 401 else { return false }
        return commonInterceptor(of: request)?.replacesCredential(of: request) ?? false
            || request.parameters.interceptor?.replacesCredential(of: request) ?? false
    }

    /// Whether a response is no result, because its status causes another attempt: then no caller sees it.
    func isRetriedForStatus(_ head: ResponseHead, _ request: Request) -> Bool {
        if credentialIsReplaced(head.status, request) { return true }
        guard head.status >= 400, request.canSendBodyAgain else { return false }
        return interceptors(of: request).contains { $0.retriesStatus(of: request) }
    }

    // MARK: Retrying

    /// The most attempts of one request, so that a retrier that never stops cannot grow the record without limit.
    private static let maximumAttempts = 100

    /// Records the failure of the attempt, and asks the retriers unless a call has caused it (RL-11).
    func decideAfterFailure(_ request: Request) {
        recordAttemptError(of: request)
        let isRetriable =
            request.error != nil && request.state != .cancelled && !request.isAborted
            && request.receiver?.isFinal != true && request.attempts.count < Session.maximumAttempts
            && millisecondsLeft(of: request) > 0
            && request.attemptBytes < Request.maximumAttemptBytes
        handle(.retriable(isRetriable), of: request)
    }

    /// Asks a retrier whether the request is sent again.
    func askRetrier(_ index: Int, about request: Request) {
        let retriers = interceptors(of: request)
        guard let error = request.error, index < retriers.count else {
            handle(.retryAnswer(.exhausted), of: request)
            return
        }
        let generation = request.machine.nextGeneration()
        retriers[index].retry(request, dueTo: error) { [self] result in
            guard request.machine.isCurrent(generation) else { return }
            let answer = retryAnswer(result, from: index, to: error, for: request)
            if case .fail(let failure) = answer { replaceErrors(of: request, with: failure) }
            handle(.retryAnswer(answer), of: request)
        }
    }

    /// Converts a retrier's decision: a body that cannot be sent again, or a full memory account, turns a retry into a
    /// failure.
    private func retryAnswer(
        _ result: RetryResult, from index: Int, to error: SessionError, for request: Request
    ) -> RequestMachine.RetryAnswer {
        switch result {
        case .doNotRetry: return .pass(to: index + 1)
        case .doNotRetryWithError(let reason): return .fail(.requestRetryFailed(reason, original: error))
        case .retry, .retryWithDelay, .retryWithNewCredential:
            guard request.canSendBodyAgain else {
                return .fail(.requestRetryFailed(.bodyCannotBeSentAgain, original: error))
            }
            do throws(SessionError) {
                try countRetry(result, of: request)
                try accountForRetry(of: request)
            } catch let reason {
                return .fail(.requestRetryFailed(reason, original: error))
            }
            guard case .retryWithDelay(let milliseconds) = result else { return .retry(milliseconds: 0) }
            if let reason = lateRetry(of: request, after: milliseconds) {
                return .fail(.requestRetryFailed(reason, original: error))
            }
            return .retry(milliseconds: milliseconds)
        }
    }

    /// Why a request is not sent again whose next attempt would begin after its time is over; `nil` if there is time.
    private func lateRetry(of request: Request, after milliseconds: Int) -> SessionError? {
        guard milliseconds >= millisecondsLeft(of: request) else { return nil }
        let limit = request.parameters.options.resourceTimeoutMilliseconds.value
        return .sessionTaskFailed(
            TransportError(
                .timedOut,
                "the next attempt would begin in \(milliseconds) ms, after the limit of \(limit) ms",
                timeout: "resource"))
    }

    /// Counts a retry that a server causes, with the refresh before it. Any other begins a new budget.
    private func countRetry(_ result: RetryResult, of request: Request) throws(SessionError) {
        guard case .retryWithNewCredential = result else {
            request.machine.hops = HopBudget()
            return
        }
        try countHops(.refresh, of: request)
    }

    /// Replaces the errors of failed serializers with the retrier's error.
    private func replaceErrors(of request: Request, with error: SessionError) {
        request.results = request.results.map { result in
            guard result.error != nil else { return result }
            return SerializedResponse(
                serializer: result.serializer, result: .failure(error),
                durationMicroseconds: result.durationMicroseconds)
        }
    }

    /// Announces the results that waited for the retriers' decision.
    func announceDeferredResults(of request: Request) {
        let held = request.results.suffix(request.deferredResultCount)
        request.deferredResultCount = 0
        for result in held { notify(.didParse(result), of: request) }
    }

    private func recordAttemptError(of request: Request) {
        let last = request.attempts.count - 1
        // The error of a retrier, or of a cancellation after the failure, belongs to the request and not to the
        // attempt.
        guard last >= 0, request.attempts[last].error == nil else { return }
        request.attempts[last].error = request.error
    }

    /// Starts the timer of a retry; also for a delay of 0, so that other work gets its turn.
    func armRetry(of request: Request, milliseconds: Int) {
        if milliseconds > 0 { notify(.willRetry(milliseconds: milliseconds), of: request) }
        let timer = Timer { [self] in
            request.retryTimer = nil
            handle(.timer, of: request)
        }
        request.retryTimer = timer
        scheduler.arm(timer, afterMilliseconds: milliseconds)
    }

    // MARK: Finishing

    /// Writes and closes the files of a request that is over but for its serializers (RL-14).
    func settle(_ request: Request) {
        if let timer = request.retryTimer {
            scheduler.cancel(timer)
            request.retryTimer = nil
        }
        guard !hasNoFiles(request) else { return didSettle(request) }
        settleEnd(of: request) { [self] in didSettle(request) }
    }

    private func didSettle(_ request: Request) {
        recordAttemptError(of: request)
        request.timeline.requestCompleted = WallClock.microseconds()
        handle(.settled, of: request)
    }

    /// Runs the serializers. The readers of a stream have parsed everything by then (session model 2.8).
    func serialize(_ request: Request) {
        guard request.stream == nil, !request.parameters.serializers.isEmpty else {
            if request.stream == nil { notify(.didParse(.unserialized(request.error)), of: request) }
            handle(.serialized(nil), of: request)
            return
        }
        let run = SerializationRun(request, request.parameters.serializers, defersFailures: true) {
            [self] results, deferredCount in
            request.deferredResultCount = deferredCount
            request.abortSerialization = nil
            request.results = results
            handle(.serialized(results.lazy.compactMap(\.error).first), of: request)
        }
        request.abortSerialization = { run.abort() }
        run.step()
    }

    /// Completes the record.
    func complete(_ request: Request) {
        request.timeline.serializationCompleted = WallClock.microseconds()
        forgetDeadline(of: request)
        remove(request)
        request.markFinished()
        reportInvalidation()
    }
}
