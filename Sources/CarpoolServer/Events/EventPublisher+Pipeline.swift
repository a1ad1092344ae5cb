internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

// The steps of a request's pipeline, from its parameters to its values.
extension EventPublisher {
    func requestDidCreateInitialURLRequest(_ request: Request) {
        publish(.requestDidCreateInitialURLRequest, request: request) { writeTarget(request, &$0) }
    }

    func request(_ request: Request, didFailToCreateURLRequestWith error: SessionError) {
        publish(.requestDidFailToCreateURLRequest, request: request) { write(error, &$0) }
    }

    func request(
        _ request: Request, didAdaptInitialURLRequest initial: TransportRequest, to adapted: TransportRequest
    ) {
        publish(.requestDidAdaptInitialRequest, request: request) { writer in
            writer.key("initial")
            write(initial, of: request, &writer)
            writer.key("adapted")
            write(adapted, of: request, &writer)
        }
    }

    func request(_ request: Request, didFailToAdaptURLRequestWith error: SessionError) {
        publish(.requestDidFailToAdaptURLRequest, request: request) { write(error, &$0) }
    }

    func requestDidCreateURLRequest(_ request: Request) {
        publish(.requestDidCreateURLRequest, request: request) { writer in
            if let made = request.urlRequest { writeMembers(made, of: request, &writer) }
        }
    }

    func request(_ request: Request, didValidateBy validator: String, index: Int, error: SessionError?) {
        publish(.requestDidValidate, request: request) { writer in
            writer.member("validator", validator)
            writer.member("index", index)
            writer.member("ok", error == nil)
            if let error { write(error, &writer) }
        }
    }

    func request(_ request: Request, willRetryAfterMilliseconds milliseconds: Int) {
        publish(.retryScheduled, request: request) { writer in
            writer.member("retry_count", request.retryCount + 1)
            writer.member("delay_ms", milliseconds)
            writer.member("status", request.response?.status)
            if let error = request.error { write(error, &writer) }
        }
    }

    func requestIsRetrying(_ request: Request) {
        publish(.requestIsRetrying, request: request) { $0.member("retry_count", request.retryCount) }
    }

    func requestDidFinish(_ request: Request) {
        publish(.requestDidFinish, request: request) { writer in
            writer.member("state", (request.state == .cancelled ? RequestState.cancelled : .finished).rawValue)
            writer.member("ok", request.error == nil)
            writer.member("status", request.response?.status)
            writer.member("size_bytes", request.body.count)
            writer.member("client_name", subject(of: request).clientName)
            if let error = request.error { write(error, &writer) }
        }
        notify(.notificationDidFinish, request)
    }

    func request(_ request: Request, didParse response: SerializedResponse) {
        publish(.requestDidParseResponse, request: request) { writer in
            writer.member("serializer", response.serializer)
            writer.member("ok", response.error == nil)
            writer.member("duration_us", response.durationMicroseconds)
            if let error = response.error { write(error, &writer) }
        }
    }

    func request(_ request: Request, didParseStream parsed: ParsedStream) {
        publish(.requestDidParseStream, request: request) { writer in
            writer.member("serializer", parsed.serializer.rawValue)
            writer.member("seq", parsed.message.sequence)
            writer.member("size_bytes", parsed.message.sizeBytes)
            guard case .failure(let error) = parsed.message.content else { return writer.member("ok", true) }
            writer.member("ok", false)
            write(error, &writer)
        }
    }

    // MARK: Parts of payloads

    private func write(_ error: SessionError, _ writer: inout JSONWriter) {
        writer.key("error")
        record.write(error, to: &writer)
    }

    /// The metrics of a task's hops, as in an attempt of the record.
    func write(_ hops: [Hop], _ writer: inout JSONWriter) {
        writer.key("metrics")
        writer.beginArray()
        for hop in hops.suffix(record.eventDetail.hops) { record.write(hop, record.eventDetail, to: &writer) }
        writer.endArray()
        if hops.count > record.eventDetail.hops { writer.member("truncated", true) }
    }

    private func write(_ urlRequest: TransportRequest, of request: Request, _ writer: inout JSONWriter) {
        writer.beginObject()
        writeMembers(urlRequest, of: request, &writer)
        writer.endObject()
    }

    /// Method, URL and fields; values that are secrets are for the client that made the request alone,
    /// and those that the session hides are for no client.
    private func writeMembers(_ urlRequest: TransportRequest, of request: Request, _ writer: inout JSONWriter) {
        writer.member("method", urlRequest.method.rawValue)
        record.write(url: urlRequest.url.description, record.eventDetail, to: &writer)
        let fields = request.shown(urlRequest.fields)
        record.write(fields, record.eventDetail, to: &writer)
    }

    /// Method and URL as they were asked for; what the URL says of a user is left out.
    func writeTarget(_ request: Request, _ writer: inout JSONWriter) {
        let url = Redaction.withoutUserInformation(request.parameters.url)
        writer.member("method", request.parameters.method.rawValue)
        record.write(url: url, record.eventDetail, to: &writer)
    }
}
