internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// A transfer: its requests, with redirects and retries, until its end. It never waits: ``step(_:)`` is called when one
/// of its descriptors is ready or its time has come.
final class CurlTransfer {
    /// What happens to the body of the present response.
    enum BodyUse {
        case write
        /// It is read and dropped, as that of a redirect.
        case drop
        /// It is dropped, and the exchange given up if there is much of it.
        case refuse
    }

    let plan: CurlPlannedTransfer
    let context: CurlContext
    let sink: CurlSink
    var upload: CurlUpload?
    var hop: CurlHop?
    var firstURL: CurlURL?
    var call: CurlCall?
    /// The first request, if it was sent before the transfer has begun.
    private var prepared: CurlPreparedCall?
    var head: CurlResponseHead?
    var headReader = CurlHeadReader()
    var record: JSON?
    var jar: CurlCookies.Jar?
    /// Whether the last request has its body only behind a challenge, from a descriptor that the daemon reads.
    var isBodyWithheld = false
    /// The fields of the last request.
    var headers: CurlHeaders?
    var use = BodyUse.write
    var next: CurlRedirect.Next?
    /// A failure that the head of the response means.
    var failure: CurlError?
    var reporter: CurlReporter
    var retry: CurlRetry
    var pace: CurlPace
    var progress: CurlProgressOutput?
    /// The bytes of the present request's body that were sent, if they are shown.
    var sentBytes: Int64 = 0
    /// Where the download goes on (`-C`).
    var offset: Int64 = 0
    private(set) var began = MonotonicTime.read()
    var attemptBegan = MonotonicTime.read()
    /// When the next attempt begins.
    var wakesAt: MonotonicTime?
    /// Whether all bytes of the pipe were read.
    var hasBodyEnded = false
    /// curl's exit code; `nil` until the end.
    var exitCode: Int32?
    /// Whether a failure ends the command line: that of a file which is opened before the first request.
    private(set) var isFatal = true

    init(_ plan: CurlPlannedTransfer, _ context: CurlContext) {
        self.plan = plan
        self.context = context
        sink = CurlSink(plan, context.console)
        reporter = CurlReporter(plan)
        retry = CurlRetry(plan.operation.options.retry)
        pace = CurlPace(plan.operation.options.response)
    }

    /// Sends the first request before the transfer begins. It is carried out when the call before it has succeeded.
    /// - Returns: the call; `nil` if it cannot be sent, which is then seen when the transfer begins.
    func prepare(after predecessor: CurlCall) -> CurlCall? {
        guard predecessor.takesFollower, let hop = try? CurlHop(plan), let exchange = try? exchange(hop),
            let call = try? CurlCall(exchange, CurlSending(body: .none), context, after: predecessor)
        else { return nil }
        prepared = CurlPreparedCall(hop, exchange, call)
        return call
    }

    /// The call that was sent before the transfer has begun.
    var preparedCall: CurlCall? { prepared?.call }

    /// Takes the call that was sent before the transfer has begun.
    func takePrepared() -> CurlPreparedCall? {
        defer { prepared = nil }
        return prepared
    }

    /// Begins with the first attempt.
    func start() {
        began = .read()
        limitFiles(since: began)
        do throws(CurlError) {
            if let failure = plan.failure { throw failure }
            try openFiles()
            isFatal = false
            try openETagFile()
            try plan.operation.settings.checkAddresses()
            if plan.url.utf8.hasPrefixIgnoringCase("https") { try checkSettings() }
            try beginAttempt()
        } catch {
            end(error)
        }
    }

    /// Finds settings of TLS that exclude a connection. What is known of the first request is reported.
    private func checkSettings() throws(CurlError) {
        do throws(CurlError) {
            try plan.operation.settings.check()
        } catch {
            if let hop = try? CurlHop(plan) {
                reporter.restart(number: context.nextAttempt())
                let proxy = CurlProxy.of(hop.url, plan.operation.options.connection, context.environment)
                reporter.begin(hop, usesProxy: proxy != nil)
                if error.exitCode != CurlExitCode.tlsError { reporter.noteUnverified() }
            }
            throw earlierFailure(than: error) ?? error
        }
    }

    /// The descriptors to wait for.
    var inputs: [Int32] {
        guard let call else { return [] }
        var inputs: [Int32] = []
        if !hasBodyEnded, !pace.isWaiting, call.output >= 0 { inputs.append(call.output) }
        if let interest = call.sending.pump?.interest, !interest.isOutput { inputs.append(interest.fd) }
        return inputs
    }

    /// The descriptor to write to, if there is one.
    var output: Int32? {
        guard let interest = call?.sending.pump?.interest, interest.isOutput else { return nil }
        return interest.fd
    }

    /// When it has to be called even if nothing is ready.
    var deadline: MonotonicTime? {
        if let wakesAt { return wakesAt }
        guard call != nil else { return nil }
        let limit = CurlTransfer.earlier(pace.deadline, givesUpAt)
        guard let progress else { return limit }
        return CurlTransfer.earlier(limit, MonotonicTime.read().advanced(milliseconds: progress.milliseconds))
    }

    private static func earlier(_ one: MonotonicTime?, _ other: MonotonicTime?) -> MonotonicTime? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    /// Goes on.
    func step(_ ready: Set<Int32>) {
        do throws(CurlError) {
            if let wakesAt, wakesAt <= MonotonicTime.read() {
                self.wakesAt = nil
                try beginAttempt()
                return
            }
            guard let call else { return }
            if context.global.isParallel { limitFiles(since: attemptBegan) }
            try checkLimit()
            sentBytes = call.sentBytes
            if call.hasAnswer, try receive(call) { return }
            if let pump = call.sending.pump, let fd = pump.interest?.fd, ready.contains(fd) { try pump.step() }
            if self.call === call, ready.contains(call.output) { try moveBody(call) }
            showProgress()
            try finishExchange()
            if self.call === call { try pace.check(isSending: head == nil && sendsLargeBody) }
        } catch {
            call = nil
            endAttempt(error)
        }
    }

    /// Whether it has something to do without waiting for a descriptor.
    var isReady: Bool { call?.hasAnswer == true && record == nil }

    /// Takes the answer of the daemon; returns whether the call had to be sent again: what was ready before is of
    /// another pipe then.
    private func receive(_ call: CurlCall) throws(CurlError) -> Bool {
        let sendings = call.sendings
        do throws(Failure) {
            if let answer = try call.take() { record = answer }
        } catch {
            throw failure(of: error)
        }
        guard call.sendings > sendings else { return false }
        hasBodyEnded = false
        headReader = CurlHeadReader(expectsConnect: headReader.expectsConnect)
        return true
    }

    /// Reads the heads from the pipe, and the first bytes of the body.
    private func readHead(_ call: CurlCall) throws(CurlError) {
        let bytes = call.readOutput()
        guard !bytes.isEmpty else { return hasBodyEnded = true }
        guard let (heads, rest) = headReader.read(bytes) else { return }
        if let connect = headReader.connect { try take(connect) }
        try take(CurlResponseHead(heads))
        guard !rest.isEmpty else { return }
        context.trace.received(body: rest)
        context.trace.received(count: rest.count)
        try take(body: rest, of: head?.contentLength)
    }

    private func moveBody(_ call: CurlCall) throws(CurlError) {
        guard head != nil else { return try readHead(call) }
        switch use {
        case .write:
            guard bytesLeft > 0 else { return try expectEnd(of: call) }
            let most = min(pace.pieceBytes, bytesLeft)
            let count = try sink.move(from: call.output, atMost: most, context.trace)
            context.trace.received(count: count)
            if count == 0 { hasBodyEnded = true }
            let isLarge = pace.bytes >= CurlTransfer.largeBytes
            pace.take(count)
            // The room of all pipes of a user is limited.
            guard !isLarge, pace.bytes >= CurlTransfer.largeBytes, !context.global.isParallel, !pace.isLimited else {
                return
            }
            PipeRoom.enlarge(call.output, to: PipeRoom.ofOurs)
        case .drop, .refuse:
            let count = sink.drop(from: call.output)
            if count == 0 { hasBodyEnded = true }
            pace.take(count)
            if use == .refuse, pace.bytes > CurlTransfer.refusedBytes, let failure { throw failure }
        }
    }

    /// After so many bytes a body is a large one, whose pipe gets more room.
    private static let largeBytes: Int64 = 65_536
    /// A connection is kept for the sake of so many bytes that are not wanted.
    private static let refusedBytes: Int64 = 65_536

    private func showProgress() { progress?.update(currentProgress) }

    /// How far the transfer is.
    var currentProgress: CurlProgress {
        var progress = CurlProgress()
        // curl reads no body with -I, and shows the length that was announced.
        let isHead = plan.operation.options.request.isHead
        progress.downloadedBytes = isHead ? 0 : pace.bytes
        progress.downloadTotal = isHead || use == .write ? head?.contentLength : nil
        progress.elapsedMicroseconds = Int64(MonotonicTime.read().microseconds(since: attemptBegan))
        if let length = upload?.header.length, length > 0, hop?.body != CurlMethod.Body.none {
            progress.uploadTotal = length
        }
        progress.uploadedBytes = sentBytes
        return progress
    }
}
