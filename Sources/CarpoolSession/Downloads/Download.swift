internal import CarpoolHTTP
internal import CarpoolSystem

/// Writes the body of a response to a file, resuming where an earlier attempt stopped (DL-01 to DL-17).
///
/// The bytes are written to a ``PartialFile`` beside the destination, so that no incomplete file ever has the requested
/// name, and what has arrived outlives the request, the daemon and the client that has the resume token.
public final class Download {
    /// Where the bytes of the current response are written.
    enum Sink {
        case none
        case partial(PartialFile)
        /// To the session's spool, kept with the request.
        case spool
        /// Error body of a refused range request; kept with the request, out of the partial file.
        case errorBody
    }

    /// The byte offset at which the last response resumed; `nil` if it was the whole body.
    public private(set) var resumedAt: Int64?
    /// Why the download restarted instead of resuming; `nil` if it did not.
    public internal(set) var restartReason: DownloadRestartReason?
    /// The size of the whole body, if the origin reported it.
    public private(set) var total: Int64?

    let parameters: DownloadParameters
    var sink = Sink.none
    var partial: PartialFile?
    var validator: EntityValidator?
    /// The resource of the bytes in the partial file; `nil` if it is not known.
    var source: EntitySource?
    /// The destination path, once it is known.
    var target: String?
    var options: DownloadOptions
    /// Whether the whole is requested because the rest of an earlier download cannot be.
    private var requestsWholeAgain = false
    /// The requested first byte, if it was not 0.
    private var requestedOffset: Int64?
    /// The end of the range that the response is, and where its bytes have ended so far; the first is `nil` if the
    /// response is the whole body.
    private var rangeEnd: Int64?
    private var received: Int64 = 0
    /// Whether the body has to wait for an operation, such as the choice of the destination.
    var isWaiting = false
    /// Whether all of the body has arrived, so that there is nothing to resume after a failed validation.
    private var isWhole = false
    var isMoved = false
    /// Whether the accepted file is about to get its final name.
    private(set) var isMoving = false
    private var nextProgress: MonotonicTime?
    /// All of the body if it is small, until the validators have accepted it.
    private var smallBody: [UInt8]?
    /// Whether the partial file is kept for another request to resume, if this one fails.
    var keepsPartialFile = true
    /// Whether the file of the current attempt has more bytes than the request accepts, so that it is not resumed.
    private var isTooLarge = false

    /// The shortest interval between progress events, in milliseconds: ten events a second are enough for a display.
    private static let progressMilliseconds = 100

    init(_ parameters: DownloadParameters) {
        self.parameters = parameters
        options = parameters.options
        if case .file(let path) = parameters.destination { target = path }
        guard let point = parameters.resumePoint else { return }
        guard let file = point.partial else {
            restartReason = point.restartReason
            requestsWholeAgain = true
            return
        }
        partial = file
        validator = point.validator
        source = point.source
        total = point.total
    }

    /// How many bytes of the file are written.
    public var count: Int64 { partial?.count ?? 0 }

    /// The resume token for another request; `nil` if the download cannot be resumed: without a strong validator the
    /// rest might be of another version (RFC 9110, section 13.1.5).
    func resumeData(for request: Request) -> String? {
        guard let partial, partial.isResumable, let validator, !isMoved else { return nil }
        return ResumeToken(
            url: Redaction.withoutUserInformation(request.parameters.url), validator: validator, source: source,
            bytes: partial.count, checksum: partial.checksum, total: total, partial: partial.currentPath,
            destination: target
        ).text
    }
}

// MARK: Requesting
extension Download {
    /// Requests the rest of a partial file, without a content coding: offsets in encoded bytes are not offsets in the
    /// file.
    func prepare(_ urlRequest: inout TransportRequest, for request: Request) {
        requestedOffset = nil
        let isGiven = urlRequest.fields.contains { $0.isNamed("accept-encoding") }
        if request.parameters.decodesContent != true || urlRequest.keepsFiles {
            urlRequest.decodesUnasked = urlRequest.keepsFiles && !isGiven
            urlRequest.decodesContent = false
            if !isGiven {
                Download.add("Accept-Encoding", "identity", to: &urlRequest)
            }
        }
        guard let partial, let validator, partial.count > 0, Download.mayResume(urlRequest) else { return }
        // For a complete file, the last byte: an origin can only answer with an error to a range behind the end.
        addRange(from: total.map { min(partial.count, max(0, $0 - 1)) } ?? partial.count, validator, &urlRequest)
    }

    /// Adds the fields of a range request from this byte on; none for the first byte.
    private func addRange(from offset: Int64, _ validator: EntityValidator, _ urlRequest: inout TransportRequest) {
        urlRequest.fields.removeAll { $0.isNamed("range") || $0.isNamed("if-range") }
        guard offset > 0 else { return }
        Download.add("Range", "bytes=\(offset)-", to: &urlRequest)
        Download.add("If-Range", validator.text, to: &urlRequest)
        requestedOffset = offset
    }

    private static func add(_ name: String, _ value: String, to urlRequest: inout TransportRequest) {
        if let field = try? HTTPField(name: name, value: value) { urlRequest.fields.append(field) }
    }

    /// Whether ranges of a response can be requested: for a GET without a range of the caller's, and without decoding.
    private static func mayResume(_ urlRequest: TransportRequest, hasOwnRange: Bool = false) -> Bool {
        urlRequest.method == .get && !urlRequest.isDecoded
            && (hasOwnRange || !urlRequest.fields.contains { $0.isNamed("range") || $0.isNamed("if-range") })
    }
}

// MARK: Receiving
extension Download: ResponseReceiver {
    func request(_ request: Request, didReceive head: ResponseHead) throws(SessionError) {
        sink = .none
        guard let offset = requestedOffset, let partial, let validator else {
            guard isWholeOrNotResumed(head, request) else { return reject() }
            return try begin(head, request)
        }
        requestedOffset = nil
        let isSame = source.flatMap { known in request.entitySource(validator).map { known.isSame(as: $0) } } ?? true
        switch ResumedResponse(head, offset: offset, validator: validator, total: total, isSameResource: isSame) {
        case .resume(let whole):
            total = whole
            rangeEnd = whole
            received = offset
            resumedAt = offset
            attach(partial, request)
            partial.truncate(to: offset)
            request.session.notify(.taskDidResume(offset, total: total), of: request)
            decideDestination(head, request)
        case .restart(let reason):
            restartReason = reason
            try begin(head, request, hasOwnRange: true)
        case .requestWhole(let reason):
            restartReason = reason
            resend(request, from: 0, validator)
        case .requestLastByte(let whole):
            total = whole
            resend(request, from: whole - 1, validator)
        case .reject: reject()
        }
    }

    /// Whether a response may replace the bytes of an earlier download: only the whole resource may, whichever range
    /// was asked for before.
    private func isWholeOrNotResumed(_ head: ResponseHead, _ request: Request) -> Bool {
        guard requestsWholeAgain, head.status != 200, let sent = request.transfer?.request else { return true }
        return !Download.mayResume(sent)
    }

    private func reject() {
        sink = .errorBody
        // The existing bytes can still be resumed.
        if partial != nil { restartReason = nil }
    }

    /// Sends the same request again with another range, over the same connection, as after a redirect.
    private func resend(_ request: Request, from offset: Int64, _ validator: EntityValidator) {
        guard var next = request.transfer?.request else { return }
        addRange(from: offset, validator, &next)
        requestsWholeAgain = requestedOffset == nil
        request.redirection = .follow(next)
    }

    /// Starts a download of the whole body. A request with a range of this download's own may have got the whole.
    private func begin(
        _ head: ResponseHead, _ request: Request, hasOwnRange: Bool = false
    ) throws(SessionError) {
        resumedAt = nil
        received = 0
        rangeEnd = try endOfUnrequestedPart(head, request)
        if let partial {
            attach(partial, request)
            partial.truncate(to: 0)
        }
        let sent = request.transfer?.request
        let isResumable = head.status == 200 && sent.map { Download.mayResume($0, hasOwnRange: hasOwnRange) } ?? false
        let servesRanges = !head.fields.first("accept-ranges", is: "none")
        validator = isResumable && servesRanges && !head.hasContentCoding ? EntityValidator(head) : nil
        source = validator.flatMap { request.entitySource($0) }
        total = isDecoded(head, by: sent) ? nil : head.fields.first("content-length").flatMap { Int64($0) }
        decideDestination(head, request)
    }

    /// Where the part ends that a response is, although none was requested; `nil` if it is no part. Only a part that is
    /// all of the resource is a file.
    private func endOfUnrequestedPart(_ head: ResponseHead, _ request: Request) throws(SessionError) -> Int64? {
        guard head.status == 206, let sent = request.transfer?.request,
            !sent.fields.contains(where: { $0.isNamed("range") })
        else { return nil }
        guard let range = ContentRange(head), range.isWhole else {
            throw .partNotRequested(head.fields.first("content-range"))
        }
        return isDecoded(head, by: sent) ? nil : range.total
    }

    /// Whether the file has other bytes than the origin sends.
    private func isDecoded(_ head: ResponseHead, by sent: TransportRequest?) -> Bool {
        head.hasContentCoding && sent?.decodes(head.fields) == true
    }

    func request(
        _ request: Request, didReceive bytes: UnsafeRawBufferPointer
    ) throws(SessionError) -> BodyDisposition {
        switch sink {
        case .none: return .stop
        case .partial(let partial):
            guard !partial.isFull else { return .pause }
            received &+= Int64(bytes.count)
            partial.writer.append(bytes)
            return .accept
        case .spool:
            guard !request.body.isFull else { return .pause }
            try store(bytes, request, memoryLimit: 0)
            received &+= Int64(bytes.count)
            didWrite(bytes.count, to: request.body.count, request)
        case .errorBody: try store(bytes, request, memoryLimit: request.parameters.memoryLimitBytes)
        }
        return .accept
    }

    /// Attaches the partial file to the request.
    func attach(_ partial: PartialFile, _ request: Request) {
        partial.owner = request
        partial.writer.onRoom = { [weak request] in request?.continueBody() }
        partial.writer.onWritten = { [weak self, weak partial, weak request] count, end in
            partial?.didWrite(to: end)
            guard let self, let request, !request.isOver else { return }
            didWrite(count, to: end, request)
        }
        partial.writer.onFailure = { [weak partial, weak request] error in
            // If the file could not be opened, the completion of the opening reports that.
            guard let partial, partial.isOpen else { return }
            request?.failToStoreBody(.cannotWriteToFile(partial.currentPath, error))
        }
    }

    /// Publishes the progress of the file.
    private func didWrite(_ count: Int, to completed: Int64, _ request: Request) {
        request.session.notify(.taskDidWriteData(count, completed: completed, total: total), of: request)
        if let next = nextProgress, request.session.scheduler.now < next { return }
        notifyProgress(of: request, completed)
    }

    func notifyProgress(of request: Request, _ completed: Int64) {
        nextProgress = request.session.scheduler.now.advanced(milliseconds: Download.progressMilliseconds)
        request.session.notify(.didProgress(completed, total: total), of: request)
    }

    private func store(
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
        case .errorBody:
            if isWhole { request.recordError(.unacceptableStatusCode(request.response?.status ?? 0)) }
            completion()
        case .spool:
            guard isWhole, isRangeComplete(request) else { return completion() }
            request.spillBody { [self] error in
                guard let error else { return didReceiveAll(request, completion) }
                request.recordError(error)
                completion()
            }
        case .partial(let partial):
            guard isWhole, isRangeComplete(request) else {
                return partial.writer.perform({ _ in }, then: { _ in completion() })
            }
            partial.finish(bytesAtMost: request.parameters.memoryLimitBytes) { [self] whole in
                // Its failure has become the request's.
                guard let whole, whole.error == nil, request.error == nil, !request.isOver else { return completion() }
                smallBody = whole.bytes
                request.body = ResponseBody(partial, count: partial.count, hash: whole.hash)
                didReceiveAll(request, completion)
            }
        }
    }

    /// Whether a response with a range has the bytes that its `Content-Range` names. One with other bytes fails; more
    /// than these cannot be told from the right ones, and the partial file is not kept.
    private func isRangeComplete(_ request: Request) -> Bool {
        guard let rangeEnd, rangeEnd != received else { return true }
        if received > rangeEnd { validator = nil }
        request.recordError(.rangeIncomplete(received: received, end: rangeEnd))
        return false
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
        isMoving = true
        move(request) { [self] error in
            isMoving = false
            completion(error)
        }
    }

    /// The response has more bytes than the request accepts. The error body of a refused range request is not a part of
    /// the file, which stays.
    func responseIsTooLarge() {
        if case .errorBody = sink { return }
        isTooLarge = true
    }

    func requestDidCancel(keepingPartialFile: Bool) { keepsPartialFile = keepingPartialFile }

    /// Keeps what the next attempt can resume.
    func reset() {
        sink = .none
        isWaiting = false
        isTooLarge = false
        nextProgress = nil
        resumedAt = nil
        requestsWholeAgain = parameters.resumePoint.map { $0.partial == nil } ?? false
        guard isWhole || validator == nil else { return }
        isWhole = false
        removePartialFile()
    }

    private func removePartialFile() {
        if !isMoved { partial?.remove() }
        partial = nil
        isMoved = false
        (validator, source) = (nil, nil)
        total = nil
        smallBody = nil
    }

    func requestWillFinish(_ request: Request, completion: @escaping () -> Void) {
        isWaiting = false
        defer { smallBody = nil }
        guard let partial, !isMoved else { return completion() }
        defer { if isWhole, request.body.path != nil { request.body.discard() } }
        let isRejected = isWhole && request.error?.name.hasPrefix("response_validation_failed") == true
        let isKept = keepsPartialFile && !isTooLarge && !isRejected
        if request.error == nil || !isKept || resumeData(for: request) == nil {
            if isRejected { keepRejectedBody(request, partial) }
            removePartialFile()
        } else {
            partial.close()
        }
        partial.writer.whenIdle(completion)
    }

    /// Keeps a small body that a validator has rejected with the request, and not as a file: it is usually an error
    /// page.
    private func keepRejectedBody(_ request: Request, _ partial: PartialFile) {
        request.body = ResponseBody(smallBody ?? [], count: partial.count)
    }
}
