internal import CarpoolHTTP

// The steps of a request that are about the body that it sends (§2.6).
extension Session {
    /// The most hops of one attempt that are owed to bodies made anew: an origin that breaks every connection is not asked for ever.
    private static let maximumRenewedHops = 16

    /// Creates the body of an upload.
    func createUploadable(for request: Request) {
        guard request.parameters.kind == .upload || request.parameters.uploadable != nil else {
            handle(.bodyMade(nil), of: request)
            return
        }
        if request.upload == nil { request.upload = UploadState() }
        request.upload?.pace = ProgressPace()
        guard let uploadable = request.parameters.uploadable else {
            return didCreate(CreatedUpload(request.urlRequest?.body ?? .none), for: request)
        }
        let question = request.machine.ask()
        uploadable.makeBody(for: request) { [self] result in
            guard request.machine.isCurrent(question) else { return }
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

    /// A hop has left the queue: from now on its body is asked for.
    func didStart(_ transfer: any TransportTask, for request: Request) {
        guard let upload = request.upload else { return }
        if case .none = transfer.request.body { return }
        if upload.kind == .stream {
            notify(.taskNeedsNewBodyStream, of: request)
            notify(.didProvideInputStream, of: request)
        }
        tell(UploadProgress(sentBytes: 0, totalBytes: transfer.request.body.lengthBytes), of: request)
    }

    /// A piece of the body was taken by the network.
    func didSend(_ count: Int, of transfer: any TransportTask, for request: Request) {
        let progress = UploadProgress(
            sentBytes: transfer.bodyPosition, totalBytes: transfer.request.body.lengthBytes)
        notify(.taskDidSendBodyData(count, progress: progress), of: request)
        tell(progress, of: request)
    }

    private func tell(_ progress: UploadProgress, of request: Request) {
        guard let told = request.upload?.pace.step(progress, at: scheduler.now) else { return }
        notify(.didUpload(told), of: request)
    }

    /// A hop is over: what it sent last is told.
    func didEndSending(of request: Request) {
        guard let told = request.upload?.pace.finish() else { return }
        notify(.didUpload(told), of: request)
    }

    // MARK: Sending again

    /// Asks for a new body where the one that was sent in part is needed again: after a redirect that keeps it, and on a new connection. Gives
    /// false if there is nobody to ask.
    func renewBody(of hop: TransportRequest, for request: Request) -> Bool {
        guard let uploadable = request.parameters.uploadable, uploadable.canRepeat, let attempt = request.attempts.last,
            attempt.hops.count < Session.maximumRenewedHops
        else { return false }
        request.transfer = nil
        let question = request.machine.ask()
        uploadable.makeBody(for: request) { [self] result in
            guard request.machine.isCurrent(question) else { return }
            switch result {
            case .success(let upload):
                var next = hop
                next.body = upload.body
                if upload.body.isFed { next.isLong = true }
                request.upload?.kind = upload.kind
                send(next, for: request)
                if request.isHeldUp { request.transfer?.pause() }
            case .failure(let cause):
                handle(.ended(nil, .createUploadableFailed(cause)), of: request)
            }
        }
        return true
    }
}

extension Request {
    /// Whether the body can be sent once more, from its first byte.
    var canSendBodyAgain: Bool {
        if let uploadable = parameters.uploadable { return uploadable.canRepeat }
        guard case .source(let source) = parameters.body else { return true }
        return source.canRestart
    }

    /// Where a body that is given piece by piece goes, while it may be given.
    public var feed: BodyFeed? {
        guard !isOver else { return nil }
        for body in [transfer?.request.body, urlRequest?.body, parameters.body] {
            if case .source(let source) = body, let feed = source as? BodyFeed { return feed }
        }
        return nil
    }
}

extension RequestBody {
    /// Whether its first byte is there to be sent.
    var canBeSent: Bool {
        guard case .source(let source) = self else { return true }
        return source.canRestart
    }

    /// Whether it is somebody's who may take his time, so that its connection should be nobody else's.
    var isFed: Bool {
        guard case .source(let source) = self else { return false }
        return source.mayWait
    }
}

extension TransportRequest {
    /// Says what the body is, whatever was said before.
    mutating func replaceContentType(with type: String) {
        fields.removeAll { $0.isNamed("content-type") }
        if let field = try? HTTPField(name: "Content-Type", value: type) { fields.append(field) }
    }
}
