internal import CarpoolHTTP
internal import CarpoolSystem

/// Takes the body of a response to a file, from wherever an earlier attempt has left it (DL-01 to DL-17).
///
/// The bytes go to a ``PartialFile`` beside the destination, so that nobody ever finds half a file under the name that was asked for, and what has
/// arrived outlives the request, the daemon and the token's holder.
public final class Download {
    /// Where the bytes of the present response go.
    enum Sink {
        case none
        case partial(PartialFile)
        /// The session's spool keeps them with the request.
        case spool
        /// The origin's words on why the rest does not come; they are kept with the request, apart from the bytes that are there.
        case page
    }

    /// The byte from which on the last response brought the rest; `nil` if it brought the whole.
    public private(set) var resumedAt: Int64?
    /// Why it began anew, if it was to go on and did not.
    public internal(set) var restarted: DownloadRestart?
    /// How many bytes the whole has, as far as the origin says so.
    public private(set) var total: Int64?

    let parameters: DownloadParameters
    var sink = Sink.none
    var partial: PartialFile?
    private var validator: EntityValidator?
    /// Where the file goes, once that is known.
    var target: String?
    var options: DownloadOptions
    /// The first byte that was asked for, if it was not the first of all.
    private var askedOffset: Int64?
    /// Whether something has to be known or done before the body can come.
    var isWaiting = false
    /// Whether all of the body has come, so that there is nothing to go on with after a refusal.
    private var isWhole = false
    var isMoved = false
    private var nextProgress: MonotonicTime?
    /// All of the body if it is small, until no validator can refuse it any more.
    private var smallBody: [UInt8]?
    /// Whether what has arrived is left for another request to go on with, if this one fails.
    var leavesPartialFile = true

    /// Progress is told no more often than this, in milliseconds: ten times a second is as much as anybody sees.
    private static let progressMilliseconds = 100

    init(_ parameters: DownloadParameters) {
        self.parameters = parameters
        options = parameters.options
        if case .file(let path) = parameters.destination { target = path }
        guard let point = parameters.resumePoint else { return }
        guard let file = point.partial else {
            restarted = .partialFileLost
            return
        }
        partial = file
        validator = point.validator
        total = point.total
    }

    /// How many bytes of the file are there.
    public var count: Int64 { partial?.count ?? 0 }

    /// What another request can go on with; `nil` if nothing can: without a strong validator nobody could tell whether the rest is of the same
    /// version (RFC 9110, section 13.1.5).
    func resumeData(for request: Request) -> String? {
        guard let partial, partial.isKept, let validator, !isMoved else { return nil }
        return ResumeToken(
            url: Redaction.withoutUserInformation(request.parameters.url), validator: validator,
            bytes: partial.count, total: total, partial: partial.place, destination: target
        ).text
    }
}

// MARK: Asking
extension Download {
    /// Asks for the rest of what is there, as it is: in an encoding of its own, no byte would have its place.
    func prepare(_ urlRequest: inout TransportRequest, for request: Request) {
        askedOffset = nil
        if request.parameters.decodesContent != true {
            urlRequest.decodesContent = false
            if !urlRequest.fields.contains(where: { $0.isNamed("accept-encoding") }) {
                Download.add("Accept-Encoding", "identity", to: &urlRequest)
            }
        }
        guard let partial, let validator, partial.count > 0, Download.mayResume(urlRequest) else { return }
        // Of a file that is whole the last byte: an origin has no answer but an error for what comes behind it.
        ask(for: total.map { min(partial.count, max(0, $0 - 1)) } ?? partial.count, validator, &urlRequest)
    }

    private func ask(for offset: Int64, _ validator: EntityValidator, _ urlRequest: inout TransportRequest) {
        urlRequest.fields.removeAll { $0.isNamed("range") || $0.isNamed("if-range") }
        guard offset > 0 else { return }
        Download.add("Range", "bytes=\(offset)-", to: &urlRequest)
        Download.add("If-Range", validator.text, to: &urlRequest)
        askedOffset = offset
    }

    private static func add(_ name: String, _ value: String, to urlRequest: inout TransportRequest) {
        if let field = try? HTTPField(name: name, value: value) { urlRequest.fields.append(field) }
    }

    /// Whether a response's bytes have places that can be asked for: those of a GET whose caller asks for no range, as they are sent.
    private static func mayResume(_ urlRequest: TransportRequest) -> Bool {
        urlRequest.method == .get && !urlRequest.isDecoded
            && !urlRequest.fields.contains { $0.isNamed("range") || $0.isNamed("if-range") }
    }
}

// MARK: Receiving
extension Download: ResponseReceiver {
    var isHoldingUp: Bool { isWaiting }

    func request(_ request: Request, didReceive head: ResponseHead) throws(SessionError) {
        sink = .none
        guard let offset = askedOffset, let partial, let validator else { return try begin(head, request) }
        askedOffset = nil
        switch ResumedResponse(head, offset: offset, validator: validator, total: total) {
        case .goOn(let whole):
            total = whole
            resumedAt = offset
            attach(partial, request)
            partial.truncate(to: offset)
            request.session.notify(.taskDidResume(offset, total: total), of: request)
            decideDestination(head, request)
        case .startAnew(let reason):
            restarted = reason
            try begin(head, request)
        case .askForWhole(let reason):
            restarted = reason
            askAgain(request, from: 0, validator)
        case .askForLastByte(let whole):
            total = whole
            askAgain(request, from: whole - 1, validator)
        case .refuse: sink = .page
        }
    }

    /// Sends the same request once more for other bytes, over the same connection, as after a redirect.
    private func askAgain(_ request: Request, from offset: Int64, _ validator: EntityValidator) {
        guard var next = request.transfer?.request else { return }
        ask(for: offset, validator, &next)
        request.redirection = .follow(next)
    }

    /// Takes a response as the whole.
    private func begin(_ head: ResponseHead, _ request: Request) throws(SessionError) {
        resumedAt = nil
        if let partial {
            attach(partial, request)
            partial.truncate(to: 0)
        }
        let sent = request.transfer?.request
        let hasPlaces = head.status == 200 && sent.map(Download.mayResume) ?? false
        let servesRanges = head.fields.first("accept-ranges")?.lowercased() != "none"
        validator = hasPlaces && servesRanges ? EntityValidator(head) : nil
        total = sent?.isDecoded == true ? nil : head.fields.first("content-length").flatMap { Int64($0) }
        decideDestination(head, request)
    }

    func request(
        _ request: Request, didReceive bytes: UnsafeRawBufferPointer
    ) throws(SessionError) -> BodyDisposition {
        switch sink {
        case .none: return .stop
        case .partial(let partial):
            guard !partial.isFull else { return .pause }
            partial.writer.append(bytes)
            return .accept
        case .spool:
            guard !request.body.isFull else { return .pause }
            try keep(bytes, request, memoryLimit: 0)
            didWrite(bytes.count, to: request.body.count, request)
        case .page: try keep(bytes, request, memoryLimit: request.parameters.memoryLimitBytes)
        }
        return .accept
    }

    /// Connects the request to its file.
    func attach(_ partial: PartialFile, _ request: Request) {
        partial.request = request
        partial.writer.onRoom = { [weak request] in request?.goOnKeepingBody() }
        partial.writer.onWritten = { [weak self, weak partial, weak request] count, end in
            partial?.didWrite(to: end)
            guard let self, let request, !request.isOver else { return }
            didWrite(count, to: end, request)
        }
        partial.writer.onFailure = { [weak partial, weak request] error in
            // If it could not be opened, the completion of that says so.
            guard let partial, partial.isOpen else { return }
            request?.failToKeepBody(.cannotWriteToFile(partial.place, error))
        }
    }

    /// Publishes that bytes are in the file.
    private func didWrite(_ count: Int, to completed: Int64, _ request: Request) {
        request.session.notify(.taskDidWriteData(count, completed: completed, total: total), of: request)
        if let next = nextProgress, request.session.scheduler.now < next { return }
        tellProgress(of: request, completed)
    }

    func tellProgress(of request: Request, _ completed: Int64) {
        nextProgress = request.session.scheduler.now.advanced(milliseconds: Download.progressMilliseconds)
        request.session.notify(.didProgress(completed, total: total), of: request)
    }

    private func keep(
        _ bytes: UnsafeRawBufferPointer, _ request: Request, memoryLimit: Int
    ) throws(SessionError) {
        try request.body.append(bytes, memoryLimit: memoryLimit, spool: request.session.spool, owner: request)
    }

    var mustSettle: Bool {
        if case .none = sink { return false }
        return true
    }

    func settle(_ request: Request, isWhole: Bool, completion: @escaping () -> Void) {
        switch sink {
        case .none: completion()
        case .page:
            if isWhole { request.recordError(.unacceptableStatusCode(request.response?.status ?? 0)) }
            completion()
        case .spool:
            guard isWhole else { return completion() }
            request.spillBody { [self] error in
                guard let error else { return didReceiveAll(request, completion) }
                request.recordError(error)
                completion()
            }
        case .partial(let partial):
            guard isWhole else { return partial.writer.perform({ _ in }, then: { _ in completion() }) }
            partial.finish(bytesAtMost: request.parameters.memoryLimitBytes) { [self] whole in
                // Its failure is the request's by now.
                guard let whole, whole.error == nil, request.error == nil, !request.isOver else { return completion() }
                smallBody = whole.bytes
                request.body = ResponseBody(partial, count: partial.count, hash: whole.hash)
                didReceiveAll(request, completion)
            }
        }
    }

    private func didReceiveAll(_ request: Request, _ completion: @escaping () -> Void) {
        isWhole = true
        let count = request.body.count
        request.session.notify(.didProgress(count, total: count), of: request)
        request.session.notify(.taskDidFinishDownloading(request.body.path ?? ""), of: request)
        guard !parameters.validatesBeforeMove else { return completion() }
        move(request) { error in
            if let error { request.recordError(error) }
            completion()
        }
    }

    func request(_ request: Request, didEndTaskWith error: TransportError?) throws(SessionError) { isWaiting = false }

    func requestDidPassValidation(_ request: Request, completion: @escaping (SessionError?) -> Void) {
        guard parameters.validatesBeforeMove, !isMoved else { return completion(nil) }
        move(request, completion: completion)
    }

    /// What the next attempt can go on with stays.
    func reset() {
        sink = .none
        isWaiting = false
        nextProgress = nil
        resumedAt = nil
        guard isWhole || validator == nil else { return }
        isWhole = false
        forgetPartialFile()
    }

    private func forgetPartialFile() {
        if !isMoved { partial?.remove() }
        partial = nil
        isMoved = false
        validator = nil
        total = nil
        smallBody = nil
    }

    func requestWillFinish(_ request: Request, completion: @escaping () -> Void) {
        isWaiting = false
        defer { smallBody = nil }
        guard let partial, !isMoved else { return completion() }
        defer { if isWhole, request.body.path != nil { request.body.discard() } }
        let isRefused = isWhole && request.error?.name.hasPrefix("response_validation_failed") == true
        if request.error == nil || !leavesPartialFile || isRefused || resumeData(for: request) == nil {
            if isRefused { keepRefusedBody(request, partial) }
            forgetPartialFile()
        } else {
            partial.close()
        }
        partial.writer.whenIdle(completion)
    }

    /// What a validator has refused is most often a page that says why: it stays with the request if it is small, and not as a file.
    private func keepRefusedBody(_ request: Request, _ partial: PartialFile) {
        request.body = ResponseBody(smallBody ?? [], count: partial.count)
    }

    /// Removes what was left for another request, unless that has gone on with it.
    func discard(of request: Request, completion: @escaping () -> Void) {
        guard let partial, !isMoved else { return completion() }
        self.partial = nil
        let (place, index, files) = (partial.place, parameters.index, request.session.files)
        let share = files.shareOfRequest(request)
        // While it is open it is locked, and counts as used.
        partial.whenLeft {
            files.runAlways(for: share, { _ = OpenedPartial.removeUnused(place, index: index) }, then: completion)
        }
    }
}
