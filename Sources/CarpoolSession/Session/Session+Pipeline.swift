internal import CarpoolHTTP

// The life of a request on one page: `RequestMachine` decides, this file carries out what it decides, and the other
// files of this folder have the effects. Calls, the transport, timers and answers of interceptors come in as events.
extension Session {
    /// Handles an event of a request and carries out all that follows from it. Returns whether it changed anything.
    ///
    /// A call from inside, such as of a monitor that cancels the request, only changes what comes next: the loop that
    /// runs already carries it out.
    @discardableResult func handle(_ event: RequestMachine.Event, of request: Request) -> Bool {
        guard request.machine.handle(event) else { return false }
        advance(request)
        return true
    }

    /// Carries out the pending actions.
    func advance(_ request: Request) {
        guard !request.isAdvancing else { return }
        request.isAdvancing = true
        while let action = request.machine.next() { carryOut(action, for: request) }
        request.isAdvancing = false
        if request.machine.isBetweenTransfers { watchDeadline(of: request) }
    }

    private func carryOut(_ action: consuming RequestMachine.Action, for request: Request) {
        switch consume action {
        case .notify(let event): notify(event, of: request)

        case .make: makeURLRequest(for: request)
        case .adapt: adapt(request)
        case .createBody: createUploadable(for: request)

        case .start: start(request)
        case .pause: pause(request)
        case .proceed: proceed(request)
        case .cancelTransfer: cancelTransfer(of: request)
        case .endTask: endTask(request)

        case .validate(let index): validate(request, by: index)
        case .decide: decideAfterFailure(request)
        case .ask(let index): askRetrier(index, about: request)
        case .announceResults: announceDeferredResults(of: request)
        case .arm(let milliseconds): armRetry(of: request, milliseconds: milliseconds)
        case .reset: request.reset()

        case .settle: settle(request)
        case .serialize: serialize(request)
        case .abortSerialization: request.abortSerialization?()
        case .complete: complete(request)
        }
    }
}
