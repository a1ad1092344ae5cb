internal import CarpoolHTTP
internal import CarpoolSystem

// The second half of the pipeline: from the end of a task to the end of its request, or to the next attempt.
extension Session {
    /// The last hop of a task is over, and its metrics are known (TM-02); the error is the transport's alone.
    func didEndTask(_ request: Request, _ error: TransportError?) {
        let explanation = error.map { explain($0, of: request) }
        handle(.ended(explanation?.error, explanation?.failure), of: request)
    }

    /// Hands the end of a task to its receiver, before the validators: one that asks a client mentions the file.
    func endTask(_ request: Request) {
        request.transfer = nil
        // A session that ends takes its requests with it (session model 2.14).
        guard !request.isLost, let receiver = request.receiver else { return }
        do throws(SessionError) {
            try receiver.request(request, didEndTaskWith: request.machine.taskError)
        } catch {
            request.recordError(error)
        }
    }

    // MARK: Validating

    /// Asks a validator; the first that objects is the last that is asked (VA-08).
    func validate(_ request: Request, by index: Int) {
        let validators = request.parameters.options.validators.value
        guard request.error == nil, request.response != nil, index < validators.count else {
            return accept(request)
        }
        let question = request.machine.ask()
        validators[index].validate(request) { [self] error in
            guard request.machine.isCurrent(question) else { return }
            handle(.validated(validators[index].name, index: index, error: error), of: request)
        }
    }

    /// No validator objects to the response: its receiver does with the body what was asked for.
    private func accept(_ request: Request) {
        failByRetryPolicy(request)
        guard request.error == nil, let receiver = request.receiver else {
            handle(.accepted(nil), of: request)
            return
        }
        let question = request.machine.ask()
        receiver.requestDidPassValidation(request) { [self] error in
            guard request.machine.isCurrent(question) else { return }
            handle(.accepted(error), of: request)
        }
    }

    /// A retry policy that goes by statuses may say that they are failures although nobody validates the response.
    private func failByRetryPolicy(_ request: Request) {
        guard request.error == nil, let status = request.response?.status else { return }
        let isFailure = [configuration.interceptor, request.parameters.interceptor].contains { interceptor in
            interceptor?.statusesWithoutValidation.contains(status) ?? false
        }
        if isFailure { request.recordError(.unacceptableStatusCode(status)) }
    }

    // MARK: Retrying

    /// The most attempts of one request: a retrier that never stops would have the record grow without end.
    private static let maximumAttempts = 100

    /// Notes the failure of the attempt, and asks the retriers only about one that no call has caused (RL-11).
    func noteFailureAndDecide(_ request: Request) {
        noteFailure(of: request)
        let isRetriable =
            request.error != nil && request.state != .cancelled && !request.isLost
            && request.attempts.count < Session.maximumAttempts && request.attemptBytes < Request.mostAttemptBytes
        handle(.retriable(isRetriable), of: request)
    }

    /// Asks a retrier whether the request is sent again.
    func askRetrier(_ index: Int, about request: Request) {
        let retriers = interceptors(of: request)
        guard let error = request.error, index < retriers.count else {
            handle(.retryAnswer(.exhausted), of: request)
            return
        }
        let question = request.machine.ask()
        retriers[index].retry(request, dueTo: error) { [self] result in
            guard request.machine.isCurrent(question) else { return }
            let answer = retryAnswer(result, from: index, to: error, for: request)
            if case .fail(let failure) = answer { replaceErrors(of: request, with: failure) }
            handle(.retryAnswer(answer), of: request)
        }
    }

    /// What a retrier's decision comes to: a body that is gone, and an account that is full, make a retry a failure.
    private func retryAnswer(
        _ result: RetryResult, from index: Int, to error: SessionError, for request: Request
    ) -> RequestMachine.RetryAnswer {
        switch result {
        case .doNotRetry: return .pass(to: index + 1)
        case .doNotRetryWithError(let reason): return .fail(.requestRetryFailed(reason, original: error))
        case .retry, .retryWithDelay:
            guard request.canSendBodyAgain else {
                return .fail(.requestRetryFailed(.bodyCannotBeSentAgain, original: error))
            }
            do throws(SessionError) { try accountForRetry(of: request) } catch let reason {
                return .fail(.requestRetryFailed(reason, original: error))
            }
            guard case .retryWithDelay(let milliseconds) = result else { return .retry(milliseconds: 0) }
            return .retry(milliseconds: milliseconds)
        }
    }

    /// A retrier's error replaces those of the values that could not be made.
    private func replaceErrors(of request: Request, with error: SessionError) {
        request.results = request.results.map { result in
            guard result.error != nil else { return result }
            return SerializedResponse(
                serializer: result.serializer, result: .failure(error),
                durationMicroseconds: result.durationMicroseconds)
        }
    }

    /// Announces the results that waited for the retriers' decision.
    func announceHeldResults(of request: Request) {
        let held = request.results.suffix(request.heldResults)
        request.heldResults = 0
        for result in held { notify(.didParse(result), of: request) }
    }

    private func noteFailure(of request: Request) {
        let last = request.attempts.count - 1
        // What a retrier makes of a failure, or a cancellation after it, is the request's error and not the attempt's.
        guard last >= 0, request.attempts[last].error == nil else { return }
        request.attempts[last].error = request.error
    }

    /// Starts the timer of a retry. Also without a delay, so that other work has its turn.
    func armRetry(of request: Request, milliseconds: Int) {
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
        noteFailure(of: request)
        request.timeline.requestCompleted = WallClock.microseconds()
        handle(.settled, of: request)
    }

    /// Runs the serializers. The readers of a stream have parsed all there is (session model 2.8).
    func serialize(_ request: Request) {
        guard request.stream == nil, !request.parameters.serializers.isEmpty else {
            if request.stream == nil { notify(.didParse(.unserialized(request.error)), of: request) }
            handle(.serialized(nil), of: request)
            return
        }
        let run = SerializationRun(request, request.parameters.serializers, holdsFailures: true) { [self] results in
            request.heldResults = request.serialization?.heldCount ?? 0
            request.serialization = nil
            request.results = results
            handle(.serialized(results.lazy.compactMap(\.error).first), of: request)
        }
        request.serialization = run
        run.step()
    }

    /// Completes the record.
    func complete(_ request: Request) {
        request.timeline.serializationCompleted = WallClock.microseconds()
        forget(request)
        request.markFinished()
        tellInvalidity()
    }
}

extension SerializedResponse {
    /// What the plain handler tells: the body as it is, or why there is none.
    static func unserialized(_ error: SessionError?) -> SerializedResponse {
        SerializedResponse(
            serializer: "none", result: error.map { .failure($0) } ?? .success(.none), durationMicroseconds: 0)
    }
}
