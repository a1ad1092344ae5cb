internal import CarpoolHTTP
internal import CarpoolSystem

// The time limit of a request while no transfer of it runs: while it waits for an interceptor, a validator, a decider,
// a serializer, the delay of a retry, a disk or a reader.
extension Session {
    /// The milliseconds that are left to a request.
    func millisecondsLeft(of request: Request) -> Int {
        let limit = request.parameters.options.resourceTimeoutMilliseconds.value
        return request.machine.deadline.millisecondsLeft(of: limit, at: scheduler.now) ?? limit
    }

    /// Ends the request when its time is over and no transfer runs that notices it.
    func watchDeadline(of request: Request) {
        let deadline = request.machine.deadline
        guard deadline.timer == nil, deadline.start != nil, !deadline.hasPassed else { return }
        let timer = Timer { [self] in
            request.machine.deadline.timer = nil
            deadlinePassed(request)
        }
        request.machine.deadline.timer = timer
        scheduler.arm(timer, afterMilliseconds: millisecondsLeft(of: request))
    }

    /// Ends the watch, which keeps the request alive.
    func forgetDeadline(of request: Request) {
        guard let timer = request.machine.deadline.timer else { return }
        scheduler.cancel(timer)
        request.machine.deadline.timer = nil
    }

    private func deadlinePassed(_ request: Request) {
        let limit = request.parameters.options.resourceTimeoutMilliseconds.value
        let wait = request.deadlineWait.map { ": \($0)" } ?? ""
        let error = TransportError(.timedOut, "not completed within \(limit) ms\(wait)", timeout: "resource")
        let isTasked = if case .tasked(isStarted: true) = request.machine.state { true } else { false }
        // The transport ends a transfer that runs.
        if isTasked, request.transfer != nil, request.deferredCompletion == nil { return }
        request.machine.deadline.hasPassed = true
        if let timer = request.settlement?.timer { scheduler.arm(timer, afterMilliseconds: 0) }
        guard isTasked else {
            handle(.deadlinePassed(error), of: request)
            return
        }
        guard let completion = request.deferredCompletion?.value, let transfer = request.transfer else {
            handle(.ended(error, .sessionTaskFailed(error)), of: request)
            return
        }
        // A transfer that has failed keeps its own error.
        request.deferredCompletion = nil
        if completion.error == nil { request.recordError(.sessionTaskFailed(error)) }
        delegate.transferDidComplete(
            transfer, TransferCompletion(error: completion.error ?? error, metrics: completion.metrics))
    }
}

extension Request {
    /// The time since it was started, in milliseconds; 0 before that.
    var elapsedMilliseconds: Int {
        machine.deadline.start.map { session.scheduler.now.microseconds(since: $0) / 1_000 } ?? 0
    }

    /// What the request waits for while no transfer runs, for its error; `nil` if nothing special.
    fileprivate var deadlineWait: String? {
        switch machine.state {
        case .adapting: "an adapter has not answered"
        case .creatingBody: "the body was not created"
        case .tasked(isStarted: true) where machine.pauseReasons.contains(.redirect):
            "a decider has not answered"
        case .tasked(isStarted: true) where transfer == nil: "the body was not created"
        case .tasked(isStarted: true) where receiver?.waitsForReader == true: "the reader has not taken the body"
        case .tasked(isStarted: true) where !isPaused: "the body is not written"
        case .validating where download?.isMoving == true: "the file has not got its final name"
        case .validating: "a validator has not answered"
        case .deciding: "a retrier has not answered"
        case .backingOff: "the next attempt waits for its delay"
        case .serializing: "a serializer has not finished"
        case .settling: "the body is not written"
        case .idle, .tasked, .completing, .over: nil
        }
    }
}
