internal import CarpoolHTTP
internal import CarpoolSystem

// The first half of the pipeline (RL-08): from the parameters to the transport.
extension Session {
    /// Begins an attempt: makes the request to send from the parameters.
    func makeURLRequest(for request: Request) {
        guard !isInvalid || request.retryCount > 0 else {
            handle(.refused(.sessionInvalidated), of: request)
            return
        }
        if request.timeline.requestStart == nil { request.timeline.requestStart = WallClock.microseconds() }
        request.attempts.append(Attempt())
        let hasAdapters = commonInterceptor(of: request) != nil || request.parameters.interceptor != nil
        let last = request.attempts.count - 1
        do throws(SessionError) {
            if hasAdapters {
                request.attempts[last].unadapted = try urlRequest(for: request)
            } else {
                request.attempts[last].request = try urlRequest(for: request)
            }
        } catch {
            handle(.notMade(error), of: request)
            return
        }
        handle(.made(hasAdapters: hasAdapters), of: request)
    }

    /// The interceptors of a request: the session's first, then the request's (RI-06).
    func interceptors(of request: Request) -> [any RequestInterceptor] {
        switch (commonInterceptor(of: request), request.parameters.interceptor) {
        case (nil, nil): []
        case (let only?, nil), (nil, let only?): [only]
        case (let common?, let own?): [common, own]
        }
    }

    /// The session's interceptor, unless the request skips it.
    func commonInterceptor(of request: Request) -> (any RequestInterceptor)? {
        request.parameters.isExemptFromInterceptor ? nil : configuration.interceptor
    }

    // MARK: Adapting

    /// Has the adapters change the request, one after the other.
    func adapt(_ request: Request) {
        let last = request.attempts.count - 1
        guard last >= 0, let initial = request.attempts[last].unadapted else { return }
        adapt(initial, by: interceptors(of: request)[...], for: request)
    }

    private func adapt(
        _ urlRequest: TransportRequest, by interceptors: ArraySlice<any RequestInterceptor>, for request: Request
    ) {
        var urlRequest = urlRequest
        var others = interceptors
        while let next = others.first, next.adaptsSynchronously {
            next.adaptSynchronously(&urlRequest)
            others = others.dropFirst()
        }
        guard let first = others.popFirst() else { return adopt(urlRequest, for: request) }
        let generation = request.machine.nextGeneration()
        let rest = others
        first.adapt(urlRequest, for: request) { [self] result in
            guard request.machine.isCurrent(generation) else { return }
            switch result {
            case .success(let adapted): adapt(adapted, by: rest, for: request)
            case .failure(let error): handle(.notAdapted(.requestAdaptationFailed(error)), of: request)
            }
        }
    }

    private func adopt(_ adapted: TransportRequest, for request: Request) {
        let last = request.attempts.count - 1
        do throws(SessionError) {
            try Session.check(adapted, of: request)
            var adapted = adapted
            try setPartition(of: &adapted, for: request)
            request.attempts[last].request = adapted
            try account(for: request)
            handle(.adapted, of: request)
        } catch {
            request.attempts[last].request = nil
            handle(.notAdapted(.requestAdaptationFailed(error)), of: request)
        }
    }

    // MARK: The task

    /// Hands the task to the transport.
    func start(_ request: Request) {
        guard let urlRequest = request.urlRequest else { return }
        if let connectivity { request.lossesAtStart = connectivity.losses }
        request.network?.beginTask()
        send(urlRequest, for: request)
    }

    /// Passes one hop to the transport, at once or when there is a path to its host if the request waits for
    /// connectivity.
    func send(_ hop: TransportRequest, for request: Request) {
        // Before the copy, which could not be lent to them.
        let fields = hopFields(for: hop, of: request)
        var hop = hop
        hop.hopFields = fields
        if !request.parameters.challengersBeforeBody.isEmpty { withholdBody(of: &hop, for: request) }
        hop.resourceStart = request.machine.deadline.start
        // A stored response has no transfer coding.
        if configuration.caching != nil, !hop.keepsTransferCoding { hop.cache = cacheUse(for: hop, of: request) }
        guard let path = missingPath(for: hop, of: request) else {
            _ = begin(hop, for: request)
            return
        }
        sendWithoutPath(hop, for: request, path)
    }

    /// Passes one hop to the transport.
    func begin(_ hop: TransportRequest, for request: Request) -> any TransportTask {
        request.releaseLastHopFields()
        request.attempts[request.attempts.count - 1].hops.append(
            Hop(method: hop.method, url: hop.url, fields: hop.hopFields?.kept))
        let transfer = transport.start(hop, delegate: delegate)
        if hop.priority != request.parameters.priority {
            transfer.setPriority(request.parameters.priority)
        }
        request.transfer = transfer
        request.settlement = nil
        tasks[transfer] = request
        return transfer
    }

    // MARK: The request to send

    /// Builds the request to send. Reads the parameters one by one, because a copy of all of them costs as much as the
    /// rest.
    private func urlRequest(for request: Request) throws(SessionError) -> TransportRequest {
        let url: HTTPURL
        let encoding = request.parameters.options.urlEncoding.value
        do throws(TransportError) { url = try HTTPURL(request.parameters.url, encoding: encoding) } catch {
            throw .invalidURL(request.parameters.url, error)
        }
        var made = TransportRequest(method: request.parameters.method, url: url, fields: fields(of: request.parameters))
        made.hasDefaultFields = request.parameters.hasDefaultFields
        if request.parameters.output?.settings.writesHeads == true { request.heads = RecordedHeads() }
        made.heads = request.heads
        made.keepsTransferCoding = request.parameters.output?.settings.keepsTransferCoding ?? false
        made.body = request.parameters.body
        made.expectsContinue = request.parameters.expectsContinue
        if let type = request.parameters.uploadable?.contentType { made.replaceContentType(with: type) }
        if let user = url.userInformation { addBasicAuthorization(user, to: &made) }
        if let encoded = request.parameters.encodedParameters {
            try encoded.encoding.put(try encoded.bytes.get(), into: &made)
        } else if let values = request.parameters.parameters {
            try (request.parameters.encoding ?? .form).encode(values, into: &made)
        }
        try Session.check(made, of: request)
        made.isLong = request.parameters.kind.isLong
        made.share = request.parameters.share
        made.process = request.parameters.process
        made.needsCertificates = request.parameters.needsCertificates
        made.connectionsPerHost = request.parameters.options.connectionsPerHost.value ?? 0
        made.priority = request.parameters.priority
        made.queueTimeoutMilliseconds = request.parameters.queueTimeoutMilliseconds
        try setPartition(of: &made, for: request)
        made.httpVersion = request.parameters.options.httpVersion.value
        made.idleTimeoutMilliseconds = request.parameters.options.idleTimeoutMilliseconds.value
        made.resourceTimeoutMilliseconds = request.parameters.options.resourceTimeoutMilliseconds.value
        made.connectTimeoutMilliseconds = request.parameters.options.connectTimeoutMilliseconds.value
        made.decodesContent = request.parameters.options.decodesContent.value
        made.keepsFiles = request.parameters.options.keepsFiles.value
        made.maximumDecodingRatio = request.parameters.options.maximumDecodingRatio.value
        request.receiver?.prepare(&made, for: request)
        return made
    }

    /// Checks what the model refuses before anything is sent, both before and after the adapters (SE-25). A GET may be
    /// an upload: then the body is intended.
    private static func check(_ made: TransportRequest, of request: Request) throws(SessionError) {
        guard made.method == .get, request.parameters.kind != .upload else { return }
        if case .none = made.body, request.parameters.uploadable == nil { return }
        throw .bodyDataInGETRequest
    }

    /// The fields of the request: its own, then the session's without those it overrides, then the `User-Agent`.
    func fields(of parameters: borrowing RequestParameters) -> [HTTPField] {
        let own = parameters.fields
        guard parameters.hasDefaultFields else { return own }
        let userAgent = parameters.userAgent
        var fields = own
        fields.reserveCapacity(own.count + defaultFields.count + 1)
        // Compared without case and without lower-case copies: most requests have few fields or none.
        for field in defaultFields where !own.contains(where: { $0.hasName(field.name) }) { fields.append(field) }
        if let userAgent, !fields.contains(where: { $0.hasName("user-agent") }) { fields.append(userAgent) }
        return fields
    }

    private func addBasicAuthorization(_ user: (user: String, password: String), to request: inout TransportRequest) {
        guard !request.fields.contains(where: { $0.hasName("authorization") }) else { return }
        let token = BasicCredential.token(user: user.user, password: user.password)
        if let field = try? HTTPField(name: "Authorization", value: "Basic \(token)") { request.fields.append(field) }
    }
}
