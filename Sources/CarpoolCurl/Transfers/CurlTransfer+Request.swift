internal import CarpoolCaller
internal import CarpoolExchange
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

extension CurlTransfer {
    private var request: CurlRequestOptions { plan.operation.options.request }
    private var response: CurlResponseOptions { plan.operation.options.response }

    /// Opens what a transfer needs before its first request.
    func openFiles() throws(CurlError) {
        let operation = plan.operation.options
        if let path = response.headFile {
            try sink.openHeadFile(isFirst: context.headFiles.insert(path).inserted)
        }
        context.console.warn(context.cookies.read(operation))
        context.console.warn(try sink.checkName())
        offset = try resumeOffset()
        upload = try CurlUpload(plan, offset: plan.upload == nil ? 0 : offset)
        context.console.warn(upload?.warnings ?? [])
        guard !NamedPath.isTimeOver else { throw CurlError(CurlExitCode.timedOut) }
        sink.appends = offset > 0 && plan.upload == nil
        try sink.openResumed()
        beginProgress()
    }

    /// With `-Z`, one transfer that prints on a terminal hides the progress of all, as in curl.
    private func beginProgress() {
        let isShown = CurlProgressOutput.isShown(context.global, isStandardOutput: sink.path == nil)
        if context.global.isParallel {
            if !isShown { context.parallelProgress = nil }
        } else if isShown {
            progress = CurlProgressOutput(
                context.console, isBar: context.global.hasProgressBar, resumesAt: offset > 0 ? offset : nil)
        }
    }

    /// Makes the file of `--etag-save`; without it the transfer is left out.
    func openETagFile() throws(CurlError) {
        guard let path = request.etagSave, context.headFiles.insert(path).inserted else { return }
        if response.createsDirectories { try CurlOutputFile.createFolders(of: path) }
        do throws(CurlError) {
            _ = try CurlOutputFile.open(path, .appending)
        } catch {
            guard error.exitCode != CurlExitCode.timedOut else { throw error }
            throw CurlError(
                exitCode: CurlExitCode.readError, message: "", form: .silent,
                warnings: ["Failed creating file for saving etags: \"\(path)\". Skip this transfer"])
        }
    }

    /// Where `-C` goes on: the size of the file that there is.
    private func resumeOffset() throws(CurlError) -> Int64 {
        switch request.resume {
        case nil: return 0
        case .offset(let offset): return offset
        case .fromFile:
            var status = stat()
            guard plan.upload == nil, let path = sink.path, stat(path, &status) == 0 else { return 0 }
            return Int64(status.st_size)
        }
    }

    /// Begins an attempt with the first request.
    func beginAttempt() throws(CurlError) {
        attemptBegan = MonotonicTime.read()
        limitFiles(since: attemptBegan)
        reporter.restart(number: context.nextAttempt())
        if let prepared = takePrepared() {
            firstURL = prepared.hop.url
            begin(prepared.hop, prepared.exchange)
            call = prepared.call
            return
        }
        let hop = try CurlHop(plan)
        firstURL = hop.url
        self.hop = hop
        // As in curl, the bytes of -d and -F have no offset.
        guard offset == 0 || hop.body != .post else {
            reporter.update { $0.effectiveURL = hop.url.text }
            throw CurlError(CurlExitCode.failedInitialization)
        }
        try send(hop)
    }

    /// Sends a request.
    func send(_ hop: CurlHop) throws(CurlError) {
        var exchange = try exchange(hop)
        var sending = CurlSending(body: .none)
        if hop.body != .none, let begun = try upload?.begin() { sending = begun }
        exchange.body = sending.body
        isBodyWithheld = !exchange.challengers.isEmpty && sending.pump == nil
        begin(hop, exchange)
        do throws(Failure) {
            call = try CurlCall(exchange, sending, context)
        } catch {
            throw failure(of: error)
        }
    }

    /// Notes what belongs to a request.
    private func begin(_ hop: CurlHop, _ exchange: CurlExchange) {
        self.hop = hop
        (head, record, next, failure, use, hasBodyEnded) = (nil, nil, nil, nil, .write, false)
        sentBytes = 0
        headReader = CurlHeadReader(expectsConnect: exchange.needsConnectHeads)
        headers = exchange.headers
        reporter.begin(hop, usesProxy: exchange.proxy != nil)
        pace.begin(sending: hop.body == .none ? 0 : upload?.header.length ?? 0)
        progress?.update(currentProgress)
    }

    /// A call that the daemon has refused.
    func failure(of error: Failure) -> CurlError {
        // The daemon's words, with curl's exit codes.
        let codes = [(".addresses.resolve", CurlExitCode.badOptionSyntax), (".proxy", CurlExitCode.unresolvedProxy)]
        if error.refusal == "invalid_params", let message = error.message,
            let code = codes.first(where: { message.hasPrefix("Invalid params: params\($0.0)") })?.1
        {
            return CurlError(exitCode: code, message: CurlError(daemon: error).message)
        }
        if let message = error.message, let failure = plan.operation.settings.failure(ofRefusal: message) {
            reporter.noteUnverified()
            return earlierFailure(than: failure) ?? failure
        }
        let failure = CurlError(daemon: error)
        if failure.exitCode == CurlExitCode.clientCertificate { reporter.noteUnverified() }
        return failure
    }

    /// What curl finds before a setting of TLS that cannot be used. The daemon knows ciphers, and what is in files; it
    /// sends nothing.
    func earlierFailure(than error: CurlError) -> CurlError? {
        guard let settings = plan.operation.settings.those(before: error), let hop = try? CurlHop(plan) else {
            return nil
        }
        do throws(Failure) {
            _ = try context.daemons.call("request.explain") { writer in
                writer.beginObject()
                writer.member("url", hop.url.text)
                settings.write(for: hop.url, to: &writer)
                writer.endObject()
            }
            return nil
        } catch let refusal {
            let codes = [CurlExitCode.badCipher, CurlExitCode.clientCertificate, CurlExitCode.badAuthorities]
            let found = failure(of: refusal)
            return codes.contains(found.exitCode) ? found : nil
        }
    }

    /// The exchange of a request.
    func exchange(_ hop: CurlHop) throws(CurlError) -> CurlExchange {
        let operation = plan.operation
        let connection = operation.options.connection
        let proxy = CurlProxy.of(hop.url, connection, context.environment)
        try proxy?.check()
        var fields = CurlHeaderContext()
        fields.lines = operation.lines
        fields.proxyLines = operation.proxyLines
        fields.body = hop.body == .none ? .none : upload?.header ?? .none
        let schemes = operation.options.security.schemes
        if schemes.isEmpty || schemes == ["basic"], hop.sendsLogin { fields.authorization = hop.login.basic }
        let token = operation.options.security.bearer
        if let token { fields.authorization = hop.isTrusted ? "Bearer \(token)" : nil }
        fields.usesProxy = proxy?.getsRequest ?? false
        fields.isTrusted = hop.isTrusted
        fields.isFirstHost = hop.isFirstHost
        fields.referer = hop.referer
        let isWholeUpload = plan.upload != nil && request.resume == .fromFile
        fields.offset = offset > 0 || isWholeUpload ? offset : nil
        fields.timeCondition = operation.timeCondition?.field
        fields.isHTTP2 = operation.isHTTP2(hop.url)
        jar = context.cookies.jar(request)
        var request = request
        request.cookies = jar == nil ? request.cookies.filter { $0.contains("=") } : []
        let headers = try CurlHeaders(request, fields)
        jar?.place = headers.cookiePlace
        var exchange = CurlExchange(
            operation: operation, hop: hop, headers: headers, proxy: proxy,
            milliseconds: try millisecondsLeft(), cookies: jar)
        if pace.isLimited { exchange.inlineBytes = 0 }
        exchange.idleMilliseconds = idleMilliseconds(hop)
        exchange.session = context.sessions.name(for: operation, hop.url)
        exchange.needsMetrics =
            operation.writeOut != nil || context.trace.isOn || exchange.needsConnectHeads
            || fields.body.length == nil
        exchange.needsCertificates = hop.url.scheme == "https" && operation.writeOut?.namesCertificates == true
        exchange.challengers = challengers(hop, proxy)
        exchange.isMetered = hop.body != .none && (progress != nil || context.parallelProgress != nil)
        return exchange
    }

    /// A body of more bytes is not in the kernel's buffers at once: the daemon alone knows how much of it was sent.
    private static let smallBodyBytes: Int64 = 65_536

    private func sendsLargeBody(_ hop: CurlHop) -> Bool {
        hop.body != .none && upload.map { $0.header.length ?? .max > CurlTransfer.smallBodyBytes } ?? false
    }

    /// The longest time without a byte, where the daemon decides what is too slow.
    private func idleMilliseconds(_ hop: CurlHop) -> Int? {
        guard sendsLargeBody(hop), let slowness = pace.slowness else { return nil }
        return min(slowness.longestSilenceMilliseconds, CurlExchange.maximumMilliseconds)
    }

    /// Whether the request has a body of which it is not known how much was sent.
    var sendsLargeBody: Bool { hop.map(sendsLargeBody) ?? false }

    /// The servers that curl sends an empty body first, because it knows that they will ask.
    private func challengers(_ hop: CurlHop, _ proxy: CurlProxy?) -> [String] {
        guard hop.body != .none else { return [] }
        var servers: [String] = []
        let isOwn = plan.operation.lines.line(of: "Authorization") != nil
        if plan.operation.options.security.schemes == ["digest"], hop.login.user != nil, hop.sendsLogin, !isOwn {
            servers.append("origin")
        }
        if let proxy, proxy.getsRequest, proxy.schemes == ["digest"], proxy.hasCredential { servers.append("proxy") }
        return servers
    }

    /// What is left of `-m`.
    private func millisecondsLeft() throws(CurlError) -> Int? {
        guard let limit = plan.operation.options.connection.timeoutMilliseconds, limit > 0 else { return nil }
        let elapsed = MonotonicTime.read().microseconds(since: attemptBegan) / 1_000
        guard elapsed < limit else { throw timedOut(elapsed) }
        return min(limit - elapsed, CurlExchange.maximumMilliseconds)
    }

    private func timedOut(_ milliseconds: Int) -> CurlError {
        CurlError(
            exitCode: CurlExitCode.timedOut,
            message: "Operation timed out after \(milliseconds) milliseconds with \(pace.bytes) bytes received")
    }

    /// Ends the wait for the pipes of the transfer at the limit of `-m`.
    func limitFiles(since began: MonotonicTime) {
        NamedPath.setLimit(milliseconds: plan.operation.options.connection.timeoutMilliseconds, since: began)
    }

    /// The daemon ends a request at the limit of `-m`; one that has not answered so long after it does not run.
    private static let graceMilliseconds = 1_000

    /// When the transfer is given up although the daemon has not ended the request; `nil` without `-m`.
    var givesUpAt: MonotonicTime? {
        guard let limit = plan.operation.options.connection.timeoutMilliseconds, limit > 0 else { return nil }
        return attemptBegan.advanced(
            milliseconds: min(limit, CurlExchange.maximumMilliseconds) + CurlTransfer.graceMilliseconds)
    }

    /// Fails if the limit of `-m` is over and the daemon does not answer.
    func checkLimit() throws(CurlError) {
        guard record == nil, call?.hasAnswer != true, let givesUpAt else { return }
        let now = MonotonicTime.read()
        guard now >= givesUpAt else { return }
        throw timedOut(now.microseconds(since: attemptBegan) / 1_000)
    }
}
