internal import CarpoolCaller
internal import CarpoolExchange
internal import CarpoolJSON
internal import Glibc

/// Says on standard error that a request waits before it is sent again, and how long.
struct RetryNotice {
    private let request: RequestArguments

    /// Waits of a day and the like must not be silent; those of downloads and streams neither.
    static func print(for request: RequestArguments, from daemon: DaemonAccess) {
        guard !request.retryEvents.isEmpty else { return }
        let notice = RetryNotice(request: request)
        daemon.onEvent { event in
            guard event["type"]?.isString("retry.scheduled") == true, let data = event["data"] else { return }
            // The line of the progress is drawn again.
            let beginning = isatty(STDERR_FILENO) == 1 ? "\r\u{1B}[K" : ""
            Terminal.printError(notice.wait(data).text, after: beginning)
        }
    }

    private func wait(_ data: JSON) -> RetryWait {
        var reason = data["error"]?["message"]?.string ?? "unknown"
        if let status = data["status"]?.int, status >= 400 { reason = "HTTP status \(status)" }
        let left = request.retry.count - (data["retry_count"]?.int ?? 1) + 1
        return RetryWait(reason, milliseconds: data["delay_ms"]?.int ?? 0, left: left)
    }
}
