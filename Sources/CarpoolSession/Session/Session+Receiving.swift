internal import CarpoolHTTP
internal import CarpoolSystem

// Events of a hop from the transport: the head of the response, pieces of the body, the end.
extension Session {
    /// The head of a response is complete.
    func didReceive(_ head: ResponseHead, of transfer: any TransportTask, for request: Request) {
        let attempt = request.attempts.count - 1
        let hops = request.attempts[attempt].hops.count
        request.attempts[attempt].hops[hops - 1].response = head
        request.attempts[attempt].response = head
        request.response = head
        request.hopBytes = 0
        // Once: the request of a transfer is a copy, with a reference for each of its parts.
        let sent = transfer.request
        // What a stored head says was carried out when it arrived (HC-10).
        if !head.isStored { storeCookies(of: head, to: sent, for: request) }
        // A server that does not support the expectation gets the body without it (RFC 9110, section 15.5.18).
        if head.status == 417, sent.expectsContinue {
            var next = sent
            next.expectsContinue = false
            next.fields.removeAll { $0.isNamed("expect") }
            request.redirection = .follow(next)
            return
        }
        guard (300..<400).contains(head.status) else {
            request.redirection = .deliver
            if answerChallenge(head, to: sent, for: request) { return }
            if sendsWithheldBody(after: head, of: request) { return }
            return accept(head, for: request)
        }
        if sent.hopFields != nil {
            acceptedCredential(at: .origin, head, to: sent, for: request)
            acceptedCredential(at: .proxy, head, to: sent, for: request)
        }
        redirect(after: head, to: sent, hop: request.attempts[attempt].redirects, for: request)
    }

    /// Returns whether a challenge in a response is answered by another hop.
    private func answerChallenge(_ head: ResponseHead, to sent: TransportRequest, for request: Request) -> Bool {
        let server = ChallengingServer(status: head.status)
        if sent.hopFields != nil {
            // A proxy that asks has not passed the request on.
            if server == nil { acceptedCredential(at: .origin, head, to: sent, for: request) }
            if server != .proxy { acceptedCredential(at: .proxy, head, to: sent, for: request) }
        }
        return server.map { answerChallenge(of: $0, head, to: sent, for: request) } ?? false
    }

    /// Accepts the head of the final response.
    func accept(_ head: ResponseHead, for request: Request) {
        request.timeline.initialResponse = WallClock.microseconds()
        if let receiver = request.receiver {
            do throws(SessionError) {
                try receiver.request(request, didReceive: head)
            } catch {
                request.recordError(error)
            }
            if case .follow = request.redirection { return }
        }
        checkBodyLength(of: head, for: request)
        // For a download the model has events for what is written, and none for the head (session model 2.7).
        if request.download == nil { notify(.taskDidReceiveResponse(head), of: request) }
        // Pauses at one head only: a caller that has resumed the request has seen it, and waits for the end.
        guard request.parameters.holdsForHeaders, !request.hasShownHead, request.state != .cancelled else { return }
        if !isRetriedForStatus(head, request) { request.pauseAtHead() }
    }

    /// A piece of the body has arrived.
    func didReceive(_ bytes: UnsafeRawBufferPointer, for request: Request) -> BodyDisposition {
        guard !request.isPaused else { return .pause }
        switch request.redirection {
        case .follow, .fail:
            request.hopBytes += bytes.count
            return request.hopBytes > Session.discardLimitBytes ? .stop : .accept
        case .deliver, .decline, .ask: break
        }
        guard request.error == nil else { return .stop }
        do throws(SessionError) {
            try checkBodyLength(adding: bytes.count, to: request)
            let disposition = try deliver(bytes, to: request)
            if disposition == .accept { request.hopBytes += bytes.count }
            return disposition
        } catch {
            request.recordError(error)
            return .stop
        }
    }

    private func deliver(
        _ bytes: UnsafeRawBufferPointer, to request: Request
    ) throws(SessionError) -> BodyDisposition {
        if let receiver = request.receiver { return try receiver.request(request, didReceive: bytes) }
        // Bytes that cannot be written yet are delivered again.
        guard !request.body.isFull else { return .pause }
        didReceiveData(bytes.count, for: request)
        try request.body.append(
            bytes, memoryLimit: request.parameters.memoryLimitBytes, spool: spool, owner: request)
        return .accept
    }

    /// Announces a piece of a body, of a request that is not a download.
    func didReceiveData(_ count: Int, for request: Request) {
        notify(.taskDidReceiveData(count), of: request)
        if request.receiveThrottle.step(count, at: scheduler.now) { notifyProgress(of: request) }
    }

    /// A hop has ended: another one follows, or the task is over. A paused request handles the end when it is resumed.
    func didComplete(_ transfer: any TransportTask, _ completion: TransferCompletion, for request: Request) {
        guard canEnd(request, completion) else {
            request.deferredCompletion = Request.DeferredCompletion(completion)
            watchDeadline(of: request)
            return
        }
        tasks[transfer] = nil
        request.endPathWait()
        if resendIfUnreachable(request, after: completion, of: transfer) { return }
        let attempt = request.attempts.count - 1
        let hop = request.attempts[attempt].hops.count - 1
        request.attempts[attempt].hops[hop].metrics = completion.metrics
        didEndSending(of: request)
        if completion.error?.needsBodyAgain == true, request.error == nil,
            resendBody(of: transfer.request, for: request)
        {
            return
        }
        if follow(request, completion) { return }
        willEndTask(request, completion.error, transfer)
        notify(.taskDidCollectMetrics(request.attempts[attempt].hops), of: request)
        notify(.didGatherMetrics(request.attempts[attempt].hops), of: request)
        didEndTask(request, completion.error)
    }

    /// Whether the end of a hop may be announced: not while the request is paused, nor before the receiver has passed
    /// on all of the body, nor before all of it is written.
    private func canEnd(_ request: Request, _ completion: TransferCompletion) -> Bool {
        guard !request.isPaused else {
            return (completion.error != nil || request.error != nil) && isSettled(request, completion)
        }
        if let receiver = request.receiver, request.state != .cancelled, !request.isAborted, !request.isRedirected,
            !request.machine.deadline.hasPassed, !receiver.canEnd(request)
        {
            return false
        }
        return isSettled(request, completion)
    }

    /// Sends the events that come before the end of a task.
    private func willEndTask(_ request: Request, _ error: TransportError?, _ transfer: any TransportTask) {
        guard let error else {
            // The length is final now, whatever the head announced.
            let count = request.receiveThrottle.count
            if count > 0 { notify(.didProgress(count, total: count), of: request) }
            return
        }
        guard error.code.isAboutServerTrust else { return }
        let sent = transfer.request
        notify(.taskDidReceiveChallenge(AuthenticationChallenge(serverTrustOf: sent)), of: request)
        // With the system's trust the failure is the transport's error (session model 2.11).
        guard sent.partition.trust != .system else { return }
        notify(.didFailTaskEarly(.sessionTaskFailed(error)), of: request)
    }

    private func notifyProgress(of request: Request) {
        notify(.didProgress(request.receivedBytes, total: request.expectedBytes), of: request)
    }
}

extension Request {
    /// The bytes of the body that the current hop has received, decoded; 0 for a download.
    public var receivedBytes: Int64 { receiveThrottle.count }

    /// The length of the body, if the response has it and the body is not encoded.
    public var expectedBytes: Int64? {
        let fields = response?.fields
        let isEncoded = fields?.has("content-encoding") == true
        return isEncoded ? nil : fields?.first("content-length").flatMap { Int64($0) }
    }
}

extension TransportError.Code {
    /// Whether the server's certificate is the reason.
    fileprivate var isAboutServerTrust: Bool {
        [
            .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
            .serverCertificateHasUnknownRoot, .serverTrustEvaluationFailed,
        ].contains(self)
    }
}
