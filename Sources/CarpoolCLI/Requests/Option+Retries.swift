internal import CarpoolCaller
internal import CarpoolExchange
internal import CarpoolJSON

extension Option where Arguments == RequestArguments {
    /// The options of retries.
    static var retries: [Option] {
        [
            Option(
                "--retry", takes: "N", "retry up to N times, if the method and the failure allow it",
                read: RequestArguments.retries
            ) { $0.retry.count = $1 },
            Option(
                "--retry-delay", takes: "TIME", "wait TIME before each retry, instead of 0.5 s, 1 s, 2 s and so on",
                read: { text throws(UsageError) in try TimeSpan.span(text, of: "--retry-delay") }
            ) { $0.retry.delayMilliseconds = $1 },
            Option(
                "--retry-max-time", takes: "TIME", "begin no retry later than TIME after the start",
                read: { text throws(UsageError) in try TimeSpan.span(text, of: "--retry-max-time") }
            ) { $0.retry.maximumMilliseconds = $1 },
            Option("--retry-all-errors", "retry after every failure, and every status of 400 or more") {
                $0.retry.retriesAllErrors = true
            },
            Option("--retry-connrefused", "retry after a refused connection (the default)") {
                $0.retry.retriesRefusedConnections = true
            },
        ]
    }
}

extension RequestArguments {
    /// The maximum that the daemon accepts.
    private static let mostRetries = 99

    static func retries(_ text: String) throws(UsageError) -> Int {
        guard text.utf8.first != UInt8(ascii: "+"), let count = Int(text), 0...mostRetries ~= count else {
            throw UsageError("--retry takes a number from 0 to \(mostRetries), not '\(text)'")
        }
        return count
    }

    /// The events that say that the request is sent again, and when; none if that is not printed.
    var retryEvents: [String] { retry.count > 0 && !isSilent ? ["retry.scheduled"] : [] }

    /// Refuses options that have no effect.
    func checkRetries() throws(UsageError) {
        guard retry.count == 0 else { return }
        let option =
            retry.delayMilliseconds > 0
            ? "--retry-delay"
            : retry.maximumMilliseconds > 0 ? "--retry-max-time" : retry.retriesAllErrors ? "--retry-all-errors" : nil
        if let option { throw UsageError("\(option) says when to retry: it needs --retry N") }
    }
}

extension RetryOptions {
    /// Writes the element of `interceptor`: the retry policy, which also retries error statuses without `--fail`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("retry_policy")
        writer.beginObject()
        writer.member("limit", count)
        writer.member("without_validation", true)
        writer.member("respect_retry_after", true)
        writer.member("max_delay_ms", RetryOptions.maximumRetryAfterMilliseconds)
        if delayMilliseconds > 0 {
            writer.member("scale_ms", delayMilliseconds)
            writer.member("max_back_off_ms", delayMilliseconds)
        }
        if maximumMilliseconds > 0 { writer.member("max_elapsed_ms", maximumMilliseconds) }
        if retriesAllErrors { writer.member("all_failures", true) }
        writer.endObject()
        writer.endObject()
    }
}
