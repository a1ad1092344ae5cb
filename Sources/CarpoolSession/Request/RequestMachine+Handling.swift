internal import CarpoolHTTP

// How an event changes the state of a request.
extension RequestMachine {
    /// Takes an event, and returns whether it changed anything. An event that the state does not expect is ignored.
    @discardableResult mutating func handle(_ event: Event) -> Bool {
        switch event {
        case .resume: return resume()
        case .suspend: return suspend()
        case .cancel(let reason): return cancel(reason)
        case .invalidated(let reason): return abort(reason)
        case .deadlinePassed(let error): return stop(.sessionTaskFailed(error), error)
        case .setUp where state == .idle: advance(to: .make)
        case .made(let hasAdapters) where state == .adapting:
            advance(to: hasAdapters ? .adapt : .createBody, announcing: .didCreateInitialURLRequest)
        case .notMade(let error) where state == .adapting: fail(error, .didFailToCreateURLRequest(error))
        case .refused(let error) where state == .adapting:
            recordError(error)
            finish()
        case .adapted where state == .adapting: advance(to: .createBody, announcing: .didAdaptInitialURLRequest)
        case .notAdapted(let error) where state == .adapting: fail(error, .didFailToAdaptURLRequest(error))
        case .bodyMade(let upload) where state == .creatingBody:
            advance(to: .createRequest, announcing: upload.map { .didCreateUploadable($0) })
        case .bodyNotMade(let error) where state == .creatingBody: fail(error, .didFailToCreateUploadable(error))
        case .ended(let error, let failure) where isTasked: endTask(error, failure)
        default: return handleResponse(event)
        }
        return true
    }

    /// The second half: from the response on.
    private mutating func handleResponse(_ event: Event) -> Bool {
        switch event {
        case .validated(let name, let index, let error) where state == .validating:
            if let error { recordError(error) }
            advance(to: .validate(index + 1), announcing: .didValidate(name, index: index, error: error))
        case .accepted(let error) where state == .validating:
            if let error { recordError(error) }
            advance(to: .decide, announcing: .didCompleteTask(taskError))
        case .retriable(let isRetriable) where canDecide: decide(isRetriable)
        case .retryAnswer(let answer): return apply(answer)
        case .timer where state == .backingOff:
            retryCount += 1
            failure = nil
            hasNoResponse = false
            advance(to: .reset)
        case .settled where state == .settling:
            hasNoResponse = failure != nil
            advance(to: .serialize, announcing: .didFinish)
        case .serialized(let error) where state == .serializing: endSerialization(error)
        default: return false
        }
        return true
    }

    private var isTasked: Bool {
        if case .tasked = state { true } else { false }
    }

    /// Whether an attempt may have failed in this state.
    private var canDecide: Bool {
        switch state {
        case .adapting, .creatingBody, .validating, .serializing: true
        default: false
        }
    }

    private mutating func fail(_ error: SessionError, _ event: SessionEvent) {
        recordError(error)
        advance(to: .decide, announcing: event)
    }

    mutating func endTask(_ error: TransportError?, _ failure: SessionError?) {
        if let failure { recordError(failure) }
        taskError = error
        advance(to: .endTask, announcing: .taskDidComplete(error))
    }

    private mutating func decide(_ isRetriable: Bool) {
        let isSerialized = state == .serializing
        guard isRetriable else { return isSerialized ? complete() : finish() }
        state = .deciding(isSerialized: isSerialized)
        advance(to: .ask(0))
    }

    private mutating func apply(_ answer: RetryAnswer) -> Bool {
        guard case .deciding(let isSerialized) = state else { return false }
        switch answer {
        case .retry(let delay):
            advance(to: .backOff(milliseconds: delay))
            return true
        case .pass(let index):
            advance(to: .ask(index))
            return true
        case .fail(let error): failure = error
        case .exhausted: break
        }
        if isSerialized { complete() } else { finish() }
        return true
    }

    /// Ends the serialization. A serializer's failure is a failure like any other: the retriers decide once more
    /// (RL-16).
    private mutating func endSerialization(_ error: SessionError?) {
        guard failure == nil, let error else { return complete() }
        failure = error
        advance(to: .decide)
    }
}

// MARK: Calls
extension RequestMachine {
    fileprivate mutating func resume() -> Bool {
        if pauseReasons.contains(.head), lifecycle == .resumed {
            pauseReasons.remove(.head)
            urgentActions.append(.proceed)
            return true
        }
        guard lifecycle.canBecome(.resumed) else { return false }
        lifecycle = .resumed
        pauseReasons.remove(.suspended)
        switch (state, nextStep) {
        case (.idle, .wait): advance(to: .make, announcing: .didResume)
        case (.tasked(isStarted: false), .wait): advance(to: .beginTask, announcing: .didResume)
        case (.tasked(isStarted: true), .wait):
            urgentActions.append(.notify(.didResume))
            pendingEvent = nil
            nextStep = .proceed
        default: urgentActions.append(.notify(.didResume))
        }
        return true
    }

    fileprivate mutating func suspend() -> Bool {
        guard lifecycle.canBecome(.suspended) else { return false }
        lifecycle = .suspended
        pauseReasons.insert(.suspended)
        urgentActions.append(.notify(.didSuspend))
        guard case .tasked(let isStarted) = state, nextStep == .wait else { return true }
        if isStarted { urgentActions.append(.pause) }
        urgentActions.append(.notify(.didSuspendTask))
        return true
    }

    fileprivate mutating func cancel(_ reason: SessionError) -> Bool {
        guard state != .over, lifecycle.canBecome(.cancelled) else { return false }
        lifecycle = .cancelled
        pauseReasons.remove(.suspended)
        recordEnd(reason)
        urgentActions.append(.notify(.didCancel))
        switch state {
        case .idle, .adapting, .creatingBody, .backingOff, .deciding(isSerialized: false): finish()
        case .deciding(isSerialized: true): complete()
        case .tasked(let isStarted):
            urgentActions.append(.notify(.didCancelTask))
            if isEndingTask { break }
            advance(to: .wait)
            if isStarted { urgentActions.append(.cancelTransfer) } else { endTask(.cancellation, nil) }
        case .validating: finish(announcing: nextStep == .decide ? nil : .didCompleteTask(nil))
        case .serializing: urgentActions.append(.abortSerialization)
        case .settling, .completing, .over: break
        }
        return true
    }

    fileprivate mutating func abort(_ reason: SessionError) -> Bool {
        guard state != .over, !isAborted else { return false }
        isAborted = true
        return stop(reason, .cancellation)
    }

    /// Ends the request wherever it is, as its session or its deadline demands.
    fileprivate mutating func stop(_ reason: SessionError, _ error: TransportError) -> Bool {
        recordEnd(reason)
        switch state {
        case .idle, .adapting, .creatingBody, .backingOff, .deciding(isSerialized: false): finish()
        case .validating: finish(announcing: isAborted || nextStep == .decide ? nil : .didCompleteTask(taskError))
        case .deciding(isSerialized: true): complete()
        case .tasked where isEndingTask: break
        case .tasked(isStarted: true):
            advance(to: .wait)
            urgentActions.append(.cancelTransfer)
        case .tasked(isStarted: false): endTask(error, nil)
        case .serializing: urgentActions.append(.abortSerialization)
        case .settling, .completing, .over: break
        }
        return true
    }
}

extension TransportError {
    /// The error of a transfer that was cancelled, as the transport reports it.
    static let cancellation = TransportError(.cancelled, "the transfer was cancelled")
}
