internal import CarpoolExchange
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

extension CurlTransfer {
    private var request: CurlRequestOptions { plan.operation.options.request }
    private var response: CurlResponseOptions { plan.operation.options.response }

    /// Takes the answers of a proxy to CONNECT, if the connection is new for this command.
    func take(_ connect: CurlHeadReader.Connect) throws(CurlError) {
        guard !connect.bytes.isEmpty, !context.knowsConnection(connect.connection) else { return }
        let head = CurlResponseHead(connect.bytes)
        reporter.take(connect: head)
        if context.trace.isOn, let hop { trace(connect: head, hop) }
        if !response.suppressesConnectHeads { try sink.write(head: head.raw) }
    }

    /// Describes a tunnel. What was sent is what the daemon sends, but for the credentials.
    private func trace(connect head: CurlResponseHead, _ hop: CurlHop) {
        let target = "\(hop.url.host):\(hop.url.effectivePort ?? 443)"
        context.trace.info("Establish HTTP proxy tunnel to \(target)")
        let lines = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\nProxy-Connection: Keep-Alive\r\n\r\n"
        context.trace.sent(head: Array(lines.utf8))
        context.trace.received(head: head.raw)
    }

    /// Takes the head of a response, and decides what happens to its body.
    func take(_ head: CurlResponseHead) throws(CurlError) {
        guard self.head == nil, let hop, let firstURL else { return }
        self.head = head
        reporter.take(head)
        if context.trace.isOn { trace(head, hop) }
        decideRedirect(head, hop, firstURL)
        if response.usesContentDisposition, (200..<400).contains(head.status),
            let value = head.value("Content-Disposition")
        {
            try sink.take(disposition: value)
        }
        decideBody(head, hop)
        try saveETag(head)
        try sink.write(head: head.raw)
    }

    private func trace(_ head: CurlResponseHead, _ hop: CurlHop) {
        context.trace.info("Connected to \(hop.url.hostName)")
        context.trace.info("using HTTP/\(head.version == "2" ? "2" : "1.x")")
        context.trace.sent(head: sentHead(hop, head.version))
        if let data = plan.operation.data, hop.body == .post, !data.isEmpty {
            context.trace.sent(body: data)
            context.trace.info("upload completely sent off: \(data.count) bytes")
        } else {
            context.trace.info("Request completely sent off")
        }
        context.trace.received(head: head.raw)
    }

    /// Says what is known of the connection after the exchange.
    private func traceConnection(_ record: JSON) {
        guard failure == nil, record["outcome"]?["error"] == nil, let hop else { return }
        let number = context.connectionNumber(reporter.report.connectionNumber)
        context.trace.info("Connection #\(number) to host \(hop.url.hostName) left intact")
    }

    /// The head of the request, as it was written.
    private func sentHead(_ hop: CurlHop, _ version: String) -> [UInt8] {
        let query = hop.url.query.map { "?\($0)" } ?? ""
        var text = "\(hop.method) \(hop.url.pathOrRoot)\(query) HTTP/\(version)\r\n"
        let fields = headers?.fields ?? []
        if fields.first?.name.lowercased() != "host" {
            text += "Host: \(hop.url.host)\(hop.url.port.map { ":\($0)" } ?? "")\r\n"
        }
        for field in fields { text += field.line + "\r\n" }
        return Array((text + "\r\n").utf8)
    }

    private func decideRedirect(_ head: CurlResponseHead, _ hop: CurlHop, _ firstURL: CurlURL) {
        let location = CurlRedirect.location(inHead: head.raw)
        let redirect = CurlRedirect(request: request, response: response, first: firstURL)
        let state = CurlRedirect.Hop(url: hop.url, body: hop.body, login: hop.login, count: hop.redirects)
        switch redirect.decide(status: head.status, location: location, state) {
        case .stop(let url): reporter.update { $0.redirectURL = url }
        case .follow(let next):
            self.next = next
            use = .drop
        case .fail(let error, let url, let redirectURL, let isCounted):
            failure = error
            use = .refuse
            reporter.update { report in
                report.redirectURL = redirectURL
                if isCounted { report.redirects += 1 }
                if let url { report.effectiveURL = url.text }
            }
        }
    }

    private func decideBody(_ head: CurlResponseHead, _ hop: CurlHop) {
        guard next == nil, failure == nil else { return }
        decideUse(head, hop)
        guard failure == nil, let error = tooLarge(head) else { return }
        failure = error
        use = .refuse
    }

    private func decideUse(_ head: CurlResponseHead, _ hop: CurlHop) {
        // A server that has nothing behind the offset of -C says so with 416.
        let isComplete = head.status == 416 && offset > 0 && hop.body == .none
        if response.fail == .withoutBody, head.status >= 400, !isComplete {
            failure = .http(head.status)
            use = .refuse
        } else if isUnchanged(head) {
            use = .drop
            reporter.update { $0.status = 304 }
        } else if request.isHead {
            // With another method (-X) there may be a body.
            use = .drop
        } else if let error = unknownCoding(head) {
            failure = error
            use = .refuse
        } else if offset > 0, hop.body == .none {
            decideResume(head)
        }
    }

    /// `-z`: whether the response is not newer, or not older, than wanted. A part of a resource is always wanted.
    private func isUnchanged(_ head: CurlResponseHead) -> Bool {
        guard request.range == nil, offset == 0, let condition = plan.operation.timeCondition else { return false }
        return !condition.isMet(lastModified: head.value("Last-Modified"))
    }

    /// `--compressed`: a body whose coding is not known.
    private func unknownCoding(_ head: CurlResponseHead) -> CurlError? {
        guard request.isCompressed, !request.isRaw, let codings = head.value("Content-Encoding") else { return nil }
        let known = ["", "identity", "none", "gzip", "x-gzip", "deflate", "br", "zstd"]
        let names = codings.split(separator: ",").map { $0.utf8.trimmingBlanks.text.lowercased() }
        guard names.contains(where: { !known.contains($0) }) else { return nil }
        return CurlError(
            exitCode: CurlExitCode.badEncoding,
            message:
                "Unrecognized content encoding type. libcurl understands deflate, gzip, br, zstd content encodings."
        )
    }

    /// A download that goes on needs a response with the rest.
    private func decideResume(_ head: CurlResponseHead) {
        let decision = CurlResume.decide(
            status: head.status, contentRange: head.value("Content-Range"), contentLength: head.contentLength,
            offset: offset)
        switch decision {
        case .write: return
        case .drop: return use = .drop
        case .refuse: break
        }
        failure = CurlError(
            exitCode: CurlExitCode.rangeError,
            message: "HTTP server does not seem to support byte ranges. Cannot resume.")
        use = .refuse
    }

    private func saveETag(_ head: CurlResponseHead) throws(CurlError) {
        guard let path = request.etagSave,
            let content = CurlETag.content(status: head.status, etags: head.values("ETag"))
        else { return }
        guard let file = try? CurlOutputFile.open(path, .truncating) else { return }
        do throws(SystemError) {
            try file.write(content)
        } catch {
            guard error.code != ETIME else { throw CurlError(CurlExitCode.timedOut) }
            throw CurlError(CurlExitCode.writeError)
        }
    }

    /// Ends the exchange when its record and all bytes of its body are there.
    func finishExchange() throws(CurlError) {
        guard let record, call != nil else { return }
        if record["body"]?["fd"] != nil, !hasBodyEnded { return }
        if head == nil, let bytes = record["raw_connect_heads"] {
            let first = record["attempts"]?[index: 0]?["metrics"]?[index: 0]
            try take(
                CurlHeadReader.Connect(
                    bytes: CurlResponseHead.bytes(bytes), connection: first?["connection"]?.int ?? 0))
        }
        if head == nil, let heads = record["raw_heads"] { try take(CurlResponseHead(CurlResponseHead.bytes(heads))) }
        call = nil
        try writeInlineBody(record)
        reporter.take(record, isKnown: context.noteConnection)
        if context.trace.isOn { traceConnection(record) }
        if let jar { context.cookies.take(record, jar) }
        if let failure { throw failure }
        if let error = record["outcome"]?["error"] {
            if error["curl"]?["code"]?.int == Int(CurlExitCode.cannotRewind) { reporter.update { $0.redirects += 1 } }
            let status = reporter.report.proxyStatus
            if head == nil, status >= 400, response.fail == .withoutBody { throw .http(status) }
            throw failure(of: error)
        }
        if let trailers = record["raw_trailers"] {
            try sink.write(head: CurlResponseHead.bytes(trailers))
        }
        guard let next, let hop else { return endAttempt(nil) }
        if hasKeptBody(record) { upload?.takeBack() }
        if next.body != .none, upload?.isRepeatable == false {
            reporter.update { report in
                report.redirects += 1
                report.effectiveURL = next.url.text
            }
            throw CurlRedirect.unrepeatable
        }
        try send(hop.following(next, plan.operation.logins))
    }

    /// Whether the daemon has read nothing of the body, because no server has asked for a credential.
    private func hasKeptBody(_ record: JSON) -> Bool {
        guard isBodyWithheld, let attempt = record["attempts"]?[index: 0], let hops = attempt["metrics"] else {
            return false
        }
        var bytes = 0
        hops.forEachElement { bytes += $0["request_body_bytes"]?.int ?? 0 }
        return bytes == 0
    }

    private func writeInlineBody(_ record: JSON) throws(CurlError) {
        guard let body = record["body"], let text = body["text"] ?? body["base64"].map({ _ in body }) else { return }
        let bytes = CurlResponseHead.bytes(text)
        context.trace.received(body: bytes)
        context.trace.received(count: bytes.count)
        try take(body: bytes)
    }

    /// The failure of the exchange, in curl's words.
    private func failure(of error: JSON) -> CurlError {
        var state = CurlFailureMessage.Progress()
        state.elapsedMilliseconds = MonotonicTime.read().microseconds(since: attemptBegan) / 1_000
        state.receivedBytes = pace.bytes
        state.totalBytes = head?.contentLength
        if let slowness = pace.slowness, ["idle", "body"].contains(error["timeout"]?.string) {
            (state.slowSeconds, state.slowBytesPerSecond) = (slowness.seconds, slowness.bytesPerSecond)
        }
        return CurlFailureMessage.error(CurlFailure(error), state)
    }
}
