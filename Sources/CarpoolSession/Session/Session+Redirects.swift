internal import CarpoolHTTP

// Redirects, from one hop to the next.
extension Session {
    /// The most bytes of a redirect's body that are read and dropped, so that its connection can be reused; a longer
    /// body is cut off.
    static let discardLimitBytes = 262_144

    /// Counts requests that a server causes.
    func countHops(_ cause: HopBudget.Cause, of request: Request) throws(SessionError) {
        try request.machine.hops.use(cause, maximumRedirects: request.parameters.options.redirect.value.maximumHops)
    }

    private func redirectHandler(of request: Request) -> RedirectHandler {
        var handler = request.parameters.options.redirect.value
        // Secrets of the session stay with their origin, whatever the names of their fields are.
        for name in configuration.hiddenFields where name != "authorization" {
            let isKept = handler.keptFields.contains { $0.lowercased() == name }
            if !isKept { handler.strippedFields.append(name) }
        }
        return handler
    }

    /// Decides how to handle a response head with a status from 300 to 399.
    func redirect(after head: ResponseHead, to sent: TransportRequest, hop: Int, for request: Request) {
        request.redirection = redirectHandler(of: request).step(after: head, to: sent, hop: hop)
        switch request.redirection {
        case .deliver: accept(head, for: request)
        case .decline(let target):
            notify(.taskWillRedirect(target), of: request)
            accept(head, for: request)
        case .follow(let next): notify(.taskWillRedirect(next.url), of: request)
        case .ask(let decider, let proposed):
            notify(.taskWillRedirect(proposed.url), of: request)
            ask(decider, about: proposed, head, sent, request)
        case .fail: return
        }
    }

    /// Asks a redirect decider that may answer later. The body of the redirect waits, because it may become the final
    /// response's body.
    private func ask(
        _ decider: any RedirectDecider, about proposed: TransportRequest, _ head: ResponseHead,
        _ sent: TransportRequest, _ request: Request
    ) {
        request.machine.pauseReasons.insert(.redirect)
        let generation = request.machine.nextGeneration()
        decider.redirect(request, after: head, to: proposed) { [self] answer in
            guard request.machine.isCurrent(generation), request.machine.pauseReasons.contains(.redirect) else {
                return
            }
            request.machine.pauseReasons.remove(.redirect)
            switch answer {
            case .failure(let error): request.redirection = .fail(error)
            case .success(let next):
                request.redirection = redirectHandler(of: request).step(
                    answer: next, target: proposed.url, from: sent, after: head)
                if case .decline = request.redirection { accept(head, for: request) }
            }
            proceed(request)
        }
    }

    /// Sends the next hop, if there is one, when a hop has ended. Returns whether there is one.
    func follow(_ request: Request, _ completion: TransferCompletion) -> Bool {
        let redirection = request.redirection
        request.redirection = .deliver
        request.machine.pauseReasons.remove(.redirect)
        // The body of a response that leads to another is not read: it may be cut off at the limit, or broken.
        let isOver =
            completion.error.map { $0.code.isAboutBody || request.hopBytes > Session.discardLimitBytes } ?? true
        request.hopBytes = 0
        guard request.error == nil, isOver, let transfer = request.transfer else { return false }
        switch redirection {
        case .deliver, .decline, .ask: return false
        case .fail(let error):
            request.recordError(error)
            return false
        case .follow(let next): return follow(next, after: transfer.request, for: request)
        }
    }

    private func follow(_ hop: TransportRequest, after sent: TransportRequest, for request: Request) -> Bool {
        let cause = HopBudget.Cause(status: request.response?.status)
        do throws(SessionError) { try countHops(cause, of: request) } catch {
            request.recordError(error)
            return false
        }
        var next = hop
        if cause == .redirect { request.authentication?.dialogue.redirected() }
        // A followed redirect is not the response, whatever becomes of the next hop.
        request.response = nil
        request.attempts[request.attempts.count - 1].response = nil
        do throws(SessionError) { try setPartition(of: &next, for: request) } catch {
            request.recordError(error)
            return false
        }
        // Another origin does not get to know who the client is.
        let first = request.attempts.last?.request ?? sent
        if next.url.origin != first.url.origin { next.partition.certificate = nil }
        guard next.body.canBeSent else {
            if renewBody(of: next, for: request) { return true }
            request.recordError(.bodyCannotBeSentAgain)
            return false
        }
        send(next, for: request)
        return true
    }
}

extension TransportError.Code {
    /// Whether a response whose head has arrived may fail for its body with this kind of error.
    fileprivate var isAboutBody: Bool {
        self == .cannotDecodeContentData || self == .cannotParseResponse || self == .networkConnectionLost
    }
}
