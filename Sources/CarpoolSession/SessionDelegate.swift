internal import CarpoolHTTP

/// Takes the transport's events to the request that they belong to, and tells the monitors first, then the request.
final class SessionDelegate: TransferDelegate {
    var tasks = RequestTaskMap()

    /// A redirect's body is read and dropped, so that its connection stays fit for use, up to here; a longer one is cut off.
    private static let discardLimitBytes = 262_144

    func transferDidStart(_ transfer: Transfer) {}

    func transfer(_ transfer: Transfer, didReceive head: ResponseHead) {
        guard let request = tasks[transfer], let sent = request.current else { return }
        let attempt = request.attempts.count - 1
        let hops = request.attempts[attempt].hops.count
        request.attempts[attempt].hops[hops - 1].response = head
        request.response = head
        request.discardedBytes = 0
        request.step = redirect(of: request).step(after: head, to: sent, hop: hops)
        let monitor = request.session.eventMonitor
        switch request.step {
        case .deliver: monitor.request(request, taskDidReceive: head)
        case .decline(let target):
            monitor.request(request, taskWillRedirectTo: target)
            monitor.request(request, taskDidReceive: head)
        case .follow(let next): monitor.request(request, taskWillRedirectTo: next.url)
        case .ask(_, let proposed):
            monitor.request(request, taskWillRedirectTo: proposed.url)
            monitor.request(request, taskDidReceive: head)
        case .fail: return
        }
    }

    func transfer(_ transfer: Transfer, didReceive bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        guard let request = tasks[transfer], !request.isFinished else { return .stop }
        switch request.step {
        case .follow, .fail:
            request.discardedBytes += bytes.count
            return request.discardedBytes > SessionDelegate.discardLimitBytes ? .stop : .accept
        case .deliver, .decline, .ask: break
        }
        request.session.eventMonitor.request(request, taskDidReceiveBytes: bytes.count)
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
        let monitor = request.session.eventMonitor
        let attempt = request.attempts.count - 1
        let hop = request.attempts[attempt].hops.count - 1
        request.attempts[attempt].hops[hop].metrics = completion.metrics
        monitor.request(request, taskDidCollect: completion.metrics)
        monitor.request(request, didGather: completion.metrics)
        if follow(request, completion) { return }
        if let error = completion.error { request.fail(.sessionTaskFailed(error)) }
        monitor.request(request, taskDidCompleteWith: completion.error)
        monitor.request(request, didCompleteTaskWith: completion.error)
        request.transfer = nil
        request.session.finish(request)
    }

    /// Goes on to the next hop, if there is one.
    private func follow(_ request: Request, _ completion: TransferCompletion) -> Bool {
        let step = request.step
        request.step = .deliver
        // A redirect whose body was cut off has done its duty.
        let isWhole = completion.error == nil || request.discardedBytes > SessionDelegate.discardLimitBytes
        request.discardedBytes = 0
        guard request.error == nil, isWhole, let sent = request.current else { return false }
        switch step {
        case .deliver, .decline, .ask: return false
        case .fail(let error):
            request.fail(error)
            return false
        case .follow(var next):
            // The time for the whole request goes on; a hop that is left none ends at once.
            let spent = completion.metrics.endMicroseconds / 1_000
            next.resourceTimeoutMilliseconds = max(1, sent.resourceTimeoutMilliseconds &- spent)
            request.response = nil
            request.session.send(next, for: request)
            return true
        }
    }

    private func redirect(of request: Request) -> RedirectHandler {
        request.parameters.redirect ?? request.session.configuration.redirect
    }
}
