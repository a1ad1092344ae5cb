internal import CarpoolExchange

/// Decides whether a transfer is repeated (`--retry`).
struct CurlRetry {
    /// What is done after an attempt.
    enum Decision: Equatable {
        case stop
        case wait(RetryWait)
        /// The server asks for more time than `--retry-max-time` leaves.
        case tooLong
    }

    /// How an attempt ended.
    struct Attempt: Equatable {
        var exitCode: Int32 = 0
        var status = 0
        /// Whether the connection was refused.
        var isRefused = false
        /// What the server asks for (Retry-After).
        var retryAfterSeconds: Int64 = 0
        /// The time since the first attempt began.
        var elapsedMilliseconds = 0
    }

    private let options: RetryOptions
    /// How many are left.
    private(set) var left: Int
    private var milliseconds: Int

    /// The waits of curl without `--retry-delay`: a second, then twice as long each time, up to ten minutes.
    private static let firstMilliseconds = 1_000
    private static let maximumMilliseconds = 600_000
    private static let transientStatuses: Set<Int> = [408, 429, 500, 502, 503, 504, 522, 524]

    init(_ options: RetryOptions) {
        self.options = options
        left = options.count
        milliseconds = options.delayMilliseconds > 0 ? options.delayMilliseconds : CurlRetry.firstMilliseconds
    }

    /// Decides, and counts the retry.
    mutating func decide(_ attempt: Attempt) -> Decision {
        guard left > 0, let reason = reason(attempt) else { return .stop }
        let limit = options.maximumMilliseconds
        guard limit == 0 || attempt.elapsedMilliseconds < limit else { return .stop }
        var wait = milliseconds
        if attempt.retryAfterSeconds > 0 {
            wait = Int(attempt.retryAfterSeconds) * 1_000
            if limit > 0, attempt.elapsedMilliseconds + wait > limit { return .tooLong }
        }
        left -= 1
        if options.delayMilliseconds == 0 { milliseconds = min(milliseconds * 2, CurlRetry.maximumMilliseconds) }
        return .wait(RetryWait(reason, milliseconds: wait, left: left + 1))
    }

    private func reason(_ attempt: Attempt) -> String? {
        switch attempt.exitCode {
        case CurlExitCode.timedOut, CurlExitCode.unresolvedHost, CurlExitCode.unresolvedProxy: return ": timeout"
        case CurlExitCode.noConnection where attempt.isRefused && options.retriesRefusedConnections:
            return ": connection refused"
        case 0, CurlExitCode.httpError:
            if CurlRetry.transientStatuses.contains(attempt.status) { return ": HTTP error" }
        default: break
        }
        return attempt.exitCode != 0 && options.retriesAllErrors ? "(retrying all errors)" : nil
    }
}
