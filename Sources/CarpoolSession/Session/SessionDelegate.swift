internal import CarpoolHTTP
internal import CarpoolSystem

/// Takes the transport's events to the request that they belong to, and tells the monitors first, then the request (SD-01).
final class SessionDelegate: TransferDelegate {
    var tasks = RequestTaskMap()

    /// A redirect's body is read and dropped, so that its connection stays fit for use, up to here; a longer one is cut off.
    private static let discardLimitBytes = 262_144

    func transferDidStart(_ transfer: any TransportTask) {
        guard let request = tasks[transfer], !request.isOver else { return }
        request.session.didStart(transfer, for: request)
    }

    func transferDidSecureConnection(_ transfer: any TransportTask) {
        guard let request = tasks[transfer], !request.isOver else { return }
        let challenge = AuthenticationChallenge(serverTrustOf: transfer.request)
        request.session.notify(.taskDidReceiveChallenge(challenge), of: request)
    }

    func transfer(_ transfer: any TransportTask, didReceive head: ResponseHead) {
        guard let request = tasks[transfer], !request.isOver else { return }
        let attempt = request.attempts.count - 1
        let hops = request.attempts[attempt].hops.count
        request.attempts[attempt].hops[hops - 1].response = head
        request.attempts[attempt].response = head
        request.response = head
        request.hopBytes = 0
        // A server that does not know the question gets the body without it (RFC 9110, section 15.5.18).
        if head.status == 417, transfer.request.expectsContinue {
            var next = transfer.request
            next.expectsContinue = false
            request.redirection = .follow(next)
            return
        }
        guard (300..<400).contains(head.status) else {
            request.redirection = .deliver
            if let challenge = AuthenticationChallenge(head, to: transfer.request) {
                request.session.notify(.taskDidReceiveChallenge(challenge), of: request)
            }
            return accept(head, for: request)
        }
        let sent = transfer.request
        request.redirection = redirect(of: request).step(after: head, to: sent, hop: hops)
        switch request.redirection {
        case .deliver: accept(head, for: request)
        case .decline(let target):
            request.session.notify(.taskWillRedirect(target), of: request)
            accept(head, for: request)
        case .follow(let next): request.session.notify(.taskWillRedirect(next.url), of: request)
        case .ask(let decider, let proposed):
            request.session.notify(.taskWillRedirect(proposed.url), of: request)
            ask(decider, about: proposed, head, sent, request)
        case .fail: return
        }
    }

    private func accept(_ head: ResponseHead, for request: Request) {
        request.timeline.initialResponse = WallClock.microseconds()
        if let receiver = request.receiver {
            do throws(SessionError) { try receiver.request(request, didReceive: head) } catch { request.fail(error) }
            if case .follow = request.redirection { return }
        }
        checkBodyLength(of: head, for: request)
        // Of a download the model tells what is written, and no head (§2.7).
        if request.download == nil { request.session.notify(.taskDidReceiveResponse(head), of: request) }
        // Only the first head is waited for: whoever let it pass has seen what there was to see, and waits for the end.
        if request.parameters.holdsForHeaders, request.retryCount == 0, request.state != .cancelled { request.hold() }
    }

    func transfer(_ transfer: any TransportTask, didReceive bytes: UnsafeRawBufferPointer) -> BodyDisposition {
        guard let request = tasks[transfer], !request.isOver else { return .stop }
        guard !request.isHeldUp else { return .pause }
        switch request.redirection {
        case .follow, .fail:
            request.hopBytes += bytes.count
            return request.hopBytes > SessionDelegate.discardLimitBytes ? .stop : .accept
        case .deliver, .decline, .ask: break
        }
        guard request.error == nil else { return .stop }
        do throws(SessionError) {
            try checkBodyLength(adding: bytes.count, to: request)
            let disposition = try deliver(bytes, to: request)
            if disposition == .accept { request.hopBytes += bytes.count }
            return disposition
        } catch {
            request.fail(error)
            return .stop
        }
    }

    // MARK: The limit of a body

    /// Fails a response that announces a longer body than its request wants; the body is not waited for.
    private func checkBodyLength(of head: ResponseHead, for request: Request) {
        // The bytes that a download resumes from are a part of the file that is limited.
        let resumed = Int(clamping: request.download?.resumedAt ?? 0)
        request.hopBytes = resumed
        let limit = request.parameters.options.maximumBodyBytes.value
        guard limit < .max, head.status != 204, head.status != 304, request.transfer?.request.method != .head,
            head.fields.first("content-encoding") == nil,
            let length = head.fields.first("content-length").flatMap({ Int($0) }), length > 0,
            length > limit &- resumed
        else { return }
        request.failToKeepBody(tooLarge(request, limit, size: resumed.addingReportingOverflow(length).partialValue))
    }

    private func checkBodyLength(adding count: Int, to request: Request) throws(SessionError) {
        let limit = request.parameters.options.maximumBodyBytes.value
        guard count > limit &- request.hopBytes else { return }
        throw tooLarge(request, limit, size: nil)
    }

    /// The failure. What a download has received is of no use: it is a part of a file that is too large.
    private func tooLarge(_ request: Request, _ limit: Int, size: Int?) -> SessionError {
        request.download?.leavesPartialFile = false
        return SessionError(
            "response_too_large", "the response's body has more than \(limit) bytes",
            hint: "raise max_body_bytes (--max-filesize), or do without the body",
            details: [.init("limit_bytes", .integer(limit))]
                + [size.map { .init("size_bytes", .integer($0)) }].compactMap(\.self))
    }

    private func deliver(
        _ bytes: UnsafeRawBufferPointer, to request: Request
    ) throws(SessionError) -> BodyDisposition {
        if let receiver = request.receiver { return try receiver.request(request, didReceive: bytes) }
        // Bytes that cannot be written yet come again.
        guard !request.body.isFull else { return .pause }
        request.session.didReceive(bytes.count, for: request)
        try request.body.append(
            bytes, memoryLimit: request.parameters.memoryLimitBytes, spool: request.session.spool, owner: request)
        return .accept
    }

    func transfer(_ transfer: any TransportTask, didSendBodyBytes count: Int) {
        guard let request = tasks[transfer] else { return }
        request.session.didSend(count, of: transfer, for: request)
    }

    func transferDidComplete(_ transfer: any TransportTask, _ completion: TransferCompletion) {
        guard let request = tasks[transfer] else { return }
        guard mayEnd(request, completion) else {
            request.heldCompletion = Request.HeldCompletion(completion)
            return
        }
        tasks[transfer] = nil
        request.network?.endWait()
        if request.session.waitsAgain(request, after: completion, of: transfer) { return }
        let attempt = request.attempts.count - 1
        let hop = request.attempts[attempt].hops.count - 1
        request.attempts[attempt].hops[hop].metrics = completion.metrics
        request.session.didEndSending(of: request)
        if completion.error?.code == .requestBodyStreamExhausted, request.error == nil,
            request.session.renewBody(of: transfer.request, for: request)
        {
            return
        }
        if follow(request, completion) { return }
        request.session.willEndTask(request, completion.error, transfer.request)
        request.session.notify(.taskDidCollectMetrics(request.attempts[attempt].hops), of: request)
        request.session.notify(.didGatherMetrics(request.attempts[attempt].hops), of: request)
        request.session.endTask(request, error: completion.error)
    }

    /// Whether the end of a hop may be told: not while the request is held up, nor before the receiver has passed on all of the body, nor before
    /// all of it is written.
    private func mayEnd(_ request: Request, _ completion: TransferCompletion) -> Bool {
        guard !request.isHeldUp else {
            return completion.error != nil && request.session.isSettled(request, completion)
        }
        if let receiver = request.receiver, request.state != .cancelled, !request.isLost, !request.isRedirected,
            !receiver.mayEnd(request)
        {
            return false
        }
        return request.session.isSettled(request, completion)
    }

    // MARK: Redirects

    private func redirect(of request: Request) -> RedirectHandler {
        request.parameters.options.redirect.value
    }

    /// Asks somebody who may take his time; the body of the redirect waits for the answer, because it may be the one that is wanted.
    private func ask(
        _ decider: any RedirectDecider, about proposed: TransportRequest, _ head: ResponseHead,
        _ sent: TransportRequest, _ request: Request
    ) {
        request.isDecidingRedirect = true
        let question = request.ask()
        decider.redirect(request, after: head, to: proposed) { [self] answer in
            guard request.takes(answerTo: question), request.isDecidingRedirect else { return }
            request.isDecidingRedirect = false
            switch answer {
            case .failure(let error): request.redirection = .fail(error)
            case .success(let next):
                request.redirection = redirect(of: request).step(
                    answer: next, target: proposed.url, from: sent, after: head)
                if case .decline = request.redirection { accept(head, for: request) }
            }
            request.session.goOn(request)
        }
    }

    /// Goes on to the next hop, if there is one.
    private func follow(_ request: Request, _ completion: TransferCompletion) -> Bool {
        let redirection = request.redirection
        request.redirection = .deliver
        request.isDecidingRedirect = false
        // A redirect whose body was cut off has done its duty.
        let isWhole = completion.error == nil || request.hopBytes > SessionDelegate.discardLimitBytes
        request.hopBytes = 0
        guard request.error == nil, isWhole, let sent = request.transfer?.request else { return false }
        switch redirection {
        case .deliver, .decline, .ask: return false
        case .fail(let error):
            request.fail(error)
            return false
        case .follow(var next):
            // The time for the whole request goes on; a hop that is left none ends at once.
            let spent = completion.metrics.endMicroseconds / 1_000
            next.resourceTimeoutMilliseconds = max(1, sent.resourceTimeoutMilliseconds &- spent)
            // A redirect that was followed is no response, whatever becomes of the next hop.
            request.response = nil
            request.attempts[request.attempts.count - 1].response = nil
            guard next.body.canBeSent else {
                if request.session.renewBody(of: next, for: request) { return true }
                request.fail(.bodyCannotBeSentAgain)
                return false
            }
            request.session.send(next, for: request)
            return true
        }
    }
}
