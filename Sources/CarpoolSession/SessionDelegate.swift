internal import CarpoolHTTP

/// Takes the transport's events to the request that they belong to, and tells the monitors first, then the request.
final class SessionDelegate: TransferDelegate {
    var tasks = RequestTaskMap()

    /// A redirect's body is read and dropped, so that its connection stays fit for use, up to here; a longer one is cut off.
    private static let discardLimitBytes = 262_144

    func transferDidStart(_ transfer: Transfer) {}

    func transfer(_ transfer: Transfer, didReceive head: ResponseHead) {
        guard let request = tasks[transfer] else { return }
        request.session.eventMonitor.request(request, taskDidReceive: head)
        request.response = head
        request.discardedBytes = 0
        let attempt = request.attempts.count - 1
        let hop = request.attempts[attempt].hops.count - 1
        request.attempts[attempt].hops[hop].response = head
    }

    func transfer(_ transfer: Transfer, didReceive bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        guard let request = tasks[transfer], !request.isFinished else { return .stop }
        request.session.eventMonitor.request(request, taskDidReceiveBytes: bytes.count)
        if let head = request.response, redirect(of: request).wouldFollow(head) {
            request.discardedBytes += bytes.count
            return request.discardedBytes > SessionDelegate.discardLimitBytes ? .stop : .accept
        }
        do throws(SessionError) {
            try request.body.append(
                bytes, memoryLimit: request.parameters.memoryLimitBytes, spool: request.session.spool, owner: request)
            return .accept
        } catch {
            request.fail(error)
            return .stop
        }
    }

    func transfer(_ transfer: Transfer, didSendBodyBytes count: Int) {
        guard let request = tasks[transfer] else { return }
        request.session.eventMonitor.request(request, taskDidSendBodyBytes: count)
    }

    func transferDidComplete(_ transfer: Transfer, _ completion: TransferCompletion) {
        guard let request = tasks[transfer] else { return }
        tasks[transfer] = nil
        request.transfer = nil
        let monitor = request.session.eventMonitor
        let attempt = request.attempts.count - 1
        let hop = request.attempts[attempt].hops.count - 1
        request.attempts[attempt].hops[hop].metrics = completion.metrics
        monitor.request(request, taskDidCollect: completion.metrics)
        monitor.request(request, didGather: completion.metrics)
        monitor.request(request, taskDidCompleteWith: completion.error)
        if follow(request, completion) { return }
        if let error = completion.error { request.fail(.sessionTaskFailed(error)) }
        monitor.request(request, didCompleteTaskWith: completion.error)
        request.session.finish(request)
    }

    /// Goes on to the next hop, if there is one.
    private func follow(_ request: Request, _ completion: TransferCompletion) -> Bool {
        guard request.error == nil, let head = request.response, let sent = request.current else { return false }
        // A redirect whose body was cut off has done its duty.
        guard completion.error == nil || request.discardedBytes > SessionDelegate.discardLimitBytes else {
            return false
        }
        let hops = request.attempts.last?.hops.count ?? 0
        switch redirect(of: request).step(after: head, to: sent, hop: hops) {
        case .deliver: return false
        case .fail(let error):
            request.fail(error)
            return false
        case .follow(var next):
            // The time for the whole request goes on; a hop that is left none ends at once.
            let spent = Int(completion.metrics.endMicroseconds / 1_000)
            next.resourceTimeoutMilliseconds = max(1, sent.resourceTimeoutMilliseconds - spent)
            request.session.eventMonitor.request(request, taskWillRedirectTo: next.url)
            request.response = nil
            request.session.send(next, for: request)
            return true
        }
    }

    private func redirect(of request: Request) -> RedirectHandler {
        request.parameters.redirect ?? request.session.configuration.redirect
    }
}
