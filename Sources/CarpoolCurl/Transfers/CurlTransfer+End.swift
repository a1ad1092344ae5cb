internal import CarpoolExchange
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

extension CurlTransfer {
    private var response: CurlResponseOptions { plan.operation.options.response }

    /// Ends an attempt: another one follows after a while, or the transfer ends.
    func endAttempt(_ error: CurlError?) {
        var error = error
        if error == nil, response.fail == .withBody, let status = head?.status, status >= 400 {
            error = .http(status)
        }
        progress?.finish(currentProgress)
        if let error { context.console.print(error) }
        switch retry.decide(attempt(error)) {
        case .stop: return end(error, isPrinted: true)
        case .tooLong:
            context.console.warn(
                "The Retry-After: time would make this command line exceed the maximum allowed time for retries.")
            return end(error, isPrinted: true)
        case .wait(let wait):
            // curl prints whole seconds.
            let printed = RetryWait(wait.reason, milliseconds: wait.milliseconds / 1_000 * 1_000, left: wait.left)
            context.console.warn(printed.text)
            reporter.update { $0.retries += 1 }
            sink.rewind(to: sink.appends ? offset : 0)
            call = nil
            wakesAt = MonotonicTime.read().advanced(milliseconds: wait.milliseconds)
        }
    }

    private func attempt(_ error: CurlError?) -> CurlRetry.Attempt {
        var attempt = CurlRetry.Attempt()
        attempt.exitCode = error?.exitCode ?? 0
        attempt.status = head?.status ?? 0
        attempt.isRefused = record?["outcome"]?["error"]?["errno"]?.int == Int(ECONNREFUSED)
        attempt.elapsedMilliseconds = MonotonicTime.read().microseconds(since: began) / 1_000
        if let value = head?.value("Retry-After") {
            attempt.retryAfterSeconds = CurlRetryAfter.seconds(value, now: WallClock.microseconds() / 1_000_000)
        }
        return attempt
    }

    /// Ends the transfer.
    func end(_ error: CurlError?, isPrinted: Bool = false) {
        call = nil
        var error = error
        if let error, !isPrinted { context.console.print(error) }
        do throws(CurlError) {
            // As curl, no empty file for a response that says that nothing has changed.
            let isUnchanged = head?.status == 304 || reporter.report.status == 304
            try sink.finish(error, makesFile: !isUnchanged)
        } catch let late {
            error = error ?? late
            if error == late { context.console.print(late) }
        }
        exitCode = error?.exitCode ?? 0
        reporter.update { report in
            report.connectionNumber = context.connectionNumber(report.connectionNumber)
            report.exitCode = Int(error?.exitCode ?? 0)
            // That of --fail-with-body is printed and not reported.
            let isWithBody = response.fail == .withBody && error?.exitCode == CurlExitCode.httpError
            report.errorMessage = isWithBody ? CurlErrorText.of(CurlExitCode.httpError) : error?.message
            report.file = sink.path
            report.totalMicroseconds = Int64(MonotonicTime.read().microseconds(since: attemptBegan))
            if report.downloadBytes == 0 { report.downloadBytes = pace.bytes }
            if leavesBody(error) { report.downloadBytes = 0 }
        }
        if error == nil { setTime() }
        if let writeOut = plan.operation.writeOut { print(writeOut) }
    }

    /// Writes the file of `-c`, with the cookies of all transfers until now, or prints them.
    func saveCookies() {
        guard let path = plan.operation.options.request.cookieJar else { return }
        NamedPath.setLimit(milliseconds: plan.operation.options.connection.timeoutMilliseconds)
        if let remark = context.cookies.write(to: path, context.console.output) { context.trace.info(remark) }
    }

    /// Whether curl would not have read the body: it is not wanted, or the transfer has failed with the head.
    private func leavesBody(_ error: CurlError?) -> Bool {
        guard next == nil else { return false }
        let codes = [CurlExitCode.httpError, CurlExitCode.rangeError, CurlExitCode.tooLargeFile]
        return use == .drop || use == .refuse && error.map { codes.contains($0.exitCode) } ?? false
    }

    /// `-R`: the file gets the time of Last-Modified.
    private func setTime() {
        guard response.keepsTime, let path = sink.path, let file = sink.file,
            let time = head?.value("Last-Modified").flatMap(CurlDate.parse)
        else { return }
        if let warning = CurlOutputFile.setTime(of: path, file, time) { context.console.warn(warning) }
    }

    private func print(_ writeOut: CurlWriteOut) {
        var fallback = CurlWriteOut.Destination.standardOutput
        for piece in writeOut.pieces(reporter.report) {
            switch piece.destination {
            case .standardOutput, .standardError: fallback = piece.destination
            case .file(let path, let appends):
                if let file = try? CurlOutputFile.open(path, appends ? .appending : .truncating) {
                    try? file.write(piece.bytes)
                    continue
                }
            }
            if fallback == .standardError {
                context.console.write(piece.bytes)
            } else {
                try? context.console.output.write(piece.bytes)
            }
        }
    }
}
