internal import CarpoolHTTP
internal import CarpoolSystem

// The second half of the pipeline: from the end of a task to the end of its request, or to the next attempt.
extension Session {
    /// A task is over, and its metrics are known (TM-02); the error is the transport's alone.
    func endTask(_ request: Request, error: TransportError?) {
        let explanation = error.map { explain($0, of: request) }
        if let explanation { request.fail(explanation.failure) }
        let error = explanation?.error
        notify(.taskDidComplete(error), of: request)
        request.transfer = nil
        // A session that ends takes its requests with it, without a word on their tasks (§2.14).
        guard !request.isLost else { return finish(request) }
        request.phase = .validating
        // Before the validators: one that asks a client tells it the file.
        do throws(SessionError) {
            try request.receiver?.request(request, didEndTaskWith: error)
        } catch let failure {
            request.fail(failure)
        }
        validate(request, from: 0, taskError: error)
    }

    // MARK: Validating

    /// The validators, one after the other; the first that objects is the last that is asked (VA-08).
    private func validate(_ request: Request, from index: Int, taskError: TransportError?) {
        let validators = request.parameters.options.validators.value
        guard request.error == nil, request.response != nil, index < validators.count else {
            failByRetryPolicy(request)
            return takeOver(request, taskError)
        }
        let question = request.ask()
        validators[index].validate(request) { [self] error in
            guard request.takes(answerTo: question), case .validating = request.phase else { return }
            if let error { request.fail(error) }
            notify(.didValidate(validators[index].name, index: index, error: error), of: request)
            guard case .validating = request.phase else { return }
            validate(request, from: index + 1, taskError: taskError)
        }
    }

    /// No validator objects to the response: its receiver does with the body what was asked for.
    private func takeOver(_ request: Request, _ taskError: TransportError?) {
        guard request.error == nil, let receiver = request.receiver else {
            return endValidation(of: request, taskError)
        }
        let question = request.ask()
        receiver.requestDidPassValidation(request) { [self] error in
            guard request.takes(answerTo: question), case .validating = request.phase else { return }
            if let error { request.fail(error) }
            endValidation(of: request, taskError)
        }
    }

    private func endValidation(of request: Request, _ taskError: TransportError?) {
        guard case .validating = request.phase else { return }
        notify(.didCompleteTask(taskError), of: request)
        guard case .validating = request.phase else { return }
        retryOrFinish(request)
    }

    /// A retry policy that goes by statuses may say that they are failures although nobody validates the response.
    private func failByRetryPolicy(_ request: Request) {
        guard request.error == nil, let status = request.response?.status else { return }
        let isFailure = [configuration.interceptor, request.parameters.interceptor].contains { interceptor in
            interceptor?.statusesWithoutValidation.contains(status) ?? false
        }
        if isFailure { request.fail(.unacceptableStatusCode(status)) }
    }

    // MARK: Retrying

    /// The most attempts of one request: whoever retries without end would have the record grow without end.
    private static let maximumAttempts = 100

    /// Asks the retriers about a failure that nobody has cancelled (RL-11).
    func retryOrFinish(_ request: Request) {
        noteFailure(of: request)
        guard let error = retriableError(of: request) else { return finish(request) }
        request.phase = .deciding(isSerialized: false)
        ask(interceptors(of: request)[...], about: error, request)
    }

    private func retriableError(of request: Request) -> SessionError? {
        guard let error = request.error, request.state != .cancelled, !request.isLost,
            request.attempts.count < Session.maximumAttempts, request.attemptBytes < Request.mostAttemptBytes
        else { return nil }
        return error
    }

    private func ask(
        _ retriers: ArraySlice<any RequestInterceptor>, about error: SessionError, _ request: Request
    ) {
        guard let first = retriers.first else { return endDecision(on: request) }
        let question = request.ask()
        first.retry(request, dueTo: error) { [self] result in
            guard request.takes(answerTo: question), case .deciding = request.phase else { return }
            switch result {
            case .doNotRetry: ask(retriers.dropFirst(), about: error, request)
            case .doNotRetryWithError(let reason):
                failAgain(request, .requestRetryFailed(reason, original: error))
                endDecision(on: request)
            case .retry, .retryWithDelay:
                guard request.canSendBodyAgain else {
                    failAgain(request, .requestRetryFailed(.bodyCannotBeSentAgain, original: error))
                    return endDecision(on: request)
                }
                do throws(SessionError) { try accountForRetry(of: request) } catch let reason {
                    failAgain(request, .requestRetryFailed(reason, original: error))
                    return endDecision(on: request)
                }
                if case .retryWithDelay(let milliseconds) = result {
                    backOff(request, milliseconds: milliseconds)
                } else {
                    backOff(request, milliseconds: 0)
                }
            }
        }
    }

    /// A retrier's error takes the place of the request's, and of those of the values that could not be made.
    private func failAgain(_ request: Request, _ error: SessionError) {
        request.failAgain(error)
        request.results = request.results.map { result in
            guard result.error != nil else { return result }
            return SerializedResponse(
                serializer: result.serializer, result: .failure(error),
                durationMicroseconds: result.durationMicroseconds)
        }
    }

    /// Announces the results that waited for the retriers' decision.
    private func announceHeldResults(of request: Request) {
        let held = request.results.suffix(request.heldResults)
        request.heldResults = 0
        for result in held { notify(.didParse(result), of: request) }
    }

    /// Nobody wants it to be sent again.
    private func endDecision(on request: Request) {
        guard case .deciding(isSerialized: true) = request.phase else { return finish(request) }
        complete(request)
    }

    private func noteFailure(of request: Request) {
        let last = request.attempts.count - 1
        // What a retrier makes of a failure, or a cancellation after it, is the request's error and not the attempt's.
        guard last >= 0, request.attempts[last].error == nil else { return }
        request.attempts[last].error = request.error
    }

    /// Also without a delay by way of the loop: a request that fails at once would otherwise go round on the stack.
    private func backOff(_ request: Request, milliseconds: Int) {
        announceHeldResults(of: request)
        let timer = Timer { [self] in
            guard case .backingOff = request.phase else { return }
            request.retryCount &+= 1
            request.reset()
            notify(.isRetrying, of: request)
            guard case .backingOff = request.phase else { return }
            perform(request)
        }
        request.phase = .backingOff(timer)
        scheduler.arm(timer, afterMilliseconds: milliseconds)
    }

    // MARK: Finishing

    /// The request is over but for its serializers (RL-14).
    func finish(_ request: Request) {
        guard !request.isOver else { return }
        if case .backingOff(let timer) = request.phase { scheduler.cancel(timer) }
        request.phase = .serializing(nil)
        guard !hasNoFiles(request) else { return finishSettled(request) }
        settleEnd(of: request) { [self] in finishSettled(request) }
    }

    private func finishSettled(_ request: Request) {
        noteFailure(of: request)
        request.hasNoResponse = request.error != nil
        request.timeline.requestCompleted = WallClock.microseconds()
        notify(.didFinish, of: request)
        // Its readers have had all that there is to parse (§2.8).
        guard request.stream == nil else { return complete(request) }
        let serializers = request.parameters.serializers
        guard !serializers.isEmpty else {
            notify(.didParse(.unserialized(request.error)), of: request)
            return complete(request)
        }
        let run = SerializationRun(request, serializers, holdsFailures: true) { [self] in didSerialize(request, $0) }
        request.phase = .serializing(run)
        run.step()
    }

    /// A value that could not be made is a failure like any other: the retriers are asked once (RL-16).
    private func didSerialize(_ request: Request, _ results: [SerializedResponse]) {
        if case .serializing(let run) = request.phase { request.heldResults = run?.heldCount ?? 0 }
        request.results = results
        guard request.error == nil, let error = results.lazy.compactMap(\.error).first else { return complete(request) }
        request.fail(error)
        noteFailure(of: request)
        guard retriableError(of: request) != nil else { return complete(request) }
        request.phase = .deciding(isSerialized: true)
        ask(interceptors(of: request)[...], about: error, request)
    }

    /// Completes the record.
    func complete(_ request: Request) {
        guard !request.isFinished else { return }
        announceHeldResults(of: request)
        guard !request.isFinished else { return }
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
