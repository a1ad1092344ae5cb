internal import CarpoolHTTP

// The steps of a request that concern the body that it sends (§2.6).
extension Session {
    /// Creates the body of an upload.
    func createUploadable(for request: Request) {
        guard request.parameters.kind == .upload || request.parameters.uploadable != nil else {
            handle(.bodyMade(nil), of: request)
            return
        }
        if request.upload == nil { request.upload = UploadState() }
        request.upload?.throttle = SendThrottle()
        guard let uploadable = request.parameters.uploadable else {
            return didCreate(CreatedUpload(request.urlRequest?.body ?? .none), for: request)
        }
        let generation = request.machine.nextGeneration()
        uploadable.makeBody(for: request) { [self] result in
            guard request.machine.isCurrent(generation) else { return }
            switch result {
            case .success(let upload): didCreate(upload, for: request)
            case .failure(let cause): handle(.bodyNotMade(.createUploadableFailed(cause)), of: request)
            }
        }
    }

    private func didCreate(_ upload: CreatedUpload, for request: Request) {
        request.upload?.kind = upload.kind
        let attempt = request.attempts.count - 1
        request.attempts[attempt].request?.body = upload.body
        if upload.body.isFed { request.attempts[attempt].request?.isLong = true }
        handle(.bodyMade(upload), of: request)
    }

    // MARK: Sending

    /// A hop has left the queue: from now on its body may be requested.
    func didStart(_ transfer: any TransportTask, for request: Request) {
        guard let upload = request.upload else { return }
        if case .none = transfer.request.body { return }
        if upload.kind == .stream {
            notify(.taskNeedsNewBodyStream, of: request)
            notify(.didProvideInputStream, of: request)
        }
        report(UploadProgress(sentBytes: 0, totalBytes: transfer.request.body.lengthBytes), of: request)
    }

    /// A piece of the body was sent to the network.
    func didSend(_ count: Int, of transfer: any TransportTask, for request: Request) {
        let progress = UploadProgress(
            sentBytes: transfer.bodyPosition, totalBytes: transfer.request.body.lengthBytes)
        notify(.taskDidSendBodyData(count, progress: progress), of: request)
        report(progress, of: request)
    }

    /// Sends an event of the progress, unless the last one was sent a moment ago.
    private func report(_ progress: UploadProgress, of request: Request) {
        guard let due = request.upload?.throttle.step(progress, at: scheduler.now) else { return }
        notify(.didUpload(due), of: request)
    }

    /// A hop is over: reports its last upload progress.
    func didEndSending(of request: Request) {
        guard let last = request.upload?.throttle.finish() else { return }
        notify(.didUpload(last), of: request)
    }

    // MARK: Sending again

    /// Sends a hop again whose connection needs the body from its first byte. Returns `false` if that is not possible.
    func resendBody(of hop: TransportRequest, for request: Request) -> Bool {
        guard request.parameters.uploadable?.canRepeat == true else { return false }
        do throws(SessionError) { try countHops(.repeat, of: request) } catch {
            request.recordError(error)
            return false
        }
        return renewBody(of: hop, for: request)
    }

    /// Requests a new body where one that was sent in part is needed again: after a redirect that keeps it, and on a
    /// new connection. Returns `false` if the body cannot be made again.
    func renewBody(of hop: TransportRequest, for request: Request) -> Bool {
        guard let uploadable = request.parameters.uploadable, uploadable.canRepeat else { return false }
        request.transfer = nil
        let generation = request.machine.nextGeneration()
        uploadable.makeBody(for: request) { [self] result in
            guard request.machine.isCurrent(generation) else { return }
            switch result {
            case .success(let upload):
                var next = hop
                next.body = upload.body
                if upload.body.isFed { next.isLong = true }
                request.upload?.kind = upload.kind
                send(next, for: request)
                if request.isPaused { request.transfer?.pause() }
            case .failure(let cause):
                handle(.ended(nil, .createUploadableFailed(cause)), of: request)
            }
        }
        if request.transfer == nil { watchDeadline(of: request) }
        return true
    }
}

extension Request {
    /// Whether the body can be sent again from its first byte.
    var canSendBodyAgain: Bool {
        if let uploadable = parameters.uploadable { return uploadable.canRepeat }
        guard case .source(let source) = parameters.body else { return true }
        return source.canRestart
    }

    /// How much of the body the current hop has sent; `nil` if it has none, or nothing is being sent.
    public var sentBody: UploadProgress? {
        guard let transfer, !isOver else { return nil }
        if case .none = transfer.request.body { return nil }
        return UploadProgress(sentBytes: transfer.bodyPosition, totalBytes: transfer.request.body.lengthBytes)
    }

    /// The feed of a body that is given in pieces, while it accepts them.
    public var feed: BodyFeed? {
        guard !isOver else { return nil }
        for body in [transfer?.request.body, urlRequest?.body, parameters.body] {
            if case .source(let source) = body, let feed = source as? BodyFeed { return feed }
        }
        return nil
    }
}

extension RequestBody {
    /// Whether the first byte of the body is available.
    var canBeSent: Bool {
        guard case .source(let source) = self else { return true }
        return source.canRestart
    }

    /// Whether the client sends the body in pieces, which may take long, so that the connection should not be shared.
    var isFed: Bool {
        guard case .source(let source) = self else { return false }
        return source.mayWait
    }
}

extension TransportRequest {
    /// Sets the type of the body, replacing an earlier one.
    mutating func replaceContentType(with type: String) {
        fields.removeAll { $0.isNamed("content-type") }
        if let field = try? HTTPField(name: "Content-Type", value: type) { fields.append(field) }
    }
}
