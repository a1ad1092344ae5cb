internal import CarpoolCaller
internal import CarpoolExchange
internal import CarpoolJSON

/// Says on standard error that a request waits before it is sent again, and how long.
struct RetryNotice {
    private let request: RequestArguments

    /// Prints one for each retry: waits of a day and the like must not be silent; those of downloads and streams
    /// neither.
    /// - Parameter url: returns the URL of a request by its id, if several run at once.
    static func print(
        for request: RequestArguments, from daemon: DaemonAccess, naming url: ((String) -> String?)? = nil
    ) {
        guard !request.retryEvents.isEmpty else { return }
        let notice = RetryNotice(request: request)
        daemon.onEvent { event in
            guard event["type"]?.isString("retry.scheduled") == true, let data = event["data"] else { return }
            let own = request.isOneOfSeveral ? request.url : nil
            let name = url.map { $0(event["request"]?.string ?? "") } ?? own
            Terminal.printError("carpool: \(name.map { "\($0): " } ?? "")\(notice.wait(data).text)")
        }
    }

    private func wait(_ data: JSON) -> RetryWait {
        var reason = data["error"]?["message"]?.string ?? "unknown"
        if let status = data["status"]?.int, status >= 400 { reason = "HTTP status \(status)" }
        let left = request.retry.count - (data["retry_count"]?.int ?? 1) + 1
        return RetryWait(reason, milliseconds: data["delay_ms"]?.int ?? 0, left: left)
    }
}
