internal import CarpoolCaller
internal import CarpoolJSON

/// The outcome of a request.
struct Outcome {
    private let record: JSON
    private let request: RequestArguments

    init(_ record: JSON, _ request: RequestArguments) {
        self.record = record
        self.request = request
    }

    private static let unacceptableStatus: StaticString = "response_validation_failed.unacceptable_status_code"

    /// Throws if the request failed.
    func check() throws(Failure) {
        if let warning = record["warning"]?.string {
            Terminal.printError("carpool: warning: \(warning)\(remedy(for: warning))")
        }
        try checkQuietly()
    }

    /// Throws if the request failed, and prints no warning.
    func checkQuietly() throws(Failure) {
        // An error status fails only the retry policy: the last response is printed like any other.
        let isRefused = record["outcome"]?["error"]?["name"]?.isString(Outcome.unacceptableStatus) ?? false
        guard isRefused || record["outcome"]?["ok"]?.bool == true else { throw failure }
        try checkStatus()
    }

    /// The options that allow a scheme which the credential of the command line does not; empty for another warning.
    /// Those of a session's credential are not on the command line.
    private func remedy(for warning: String) -> String {
        guard warning.hasSuffix("which the credential's schemes do not allow") else { return "" }
        let isOfProxy = warning.contains(" the proxy offers ")
        let isOwn = isOfProxy ? request.proxy.proxy != nil : request.credential.isGiven
        guard isOwn else { return "" }
        let schemes = isOfProxy ? request.proxy.schemes : request.credential.schemes
        let options = isOfProxy ? "--proxy-" : "--"
        return "; use \(options)\(schemes == ["digest"] ? "basic" : "digest") or \(options)anyauth"
    }

    /// Throws for an error status, with `--fail`.
    func checkStatus() throws(Failure) {
        guard request.failsOnStatus, let status = record["response"]?["status"]?.int, status >= 400 else { return }
        let url = record["response"]?["url"]?.string ?? request.url
        throw Failure(.httpFailure, "HTTP status \(status) from \(url)")
    }

    private var failure: Failure {
        let error = record["outcome"]?["error"]
        let name = error?["name"]?.string ?? "unknown"
        let message = Outcome.inWordsOfTheCommand(
            error?["message"]?.string ?? "the request ended in state \(record["state"]?.string ?? "unknown")")
        // The reader of standard output has closed it.
        if name.hasSuffix("response_output_closed") { return .brokenPipe }
        // A retry that would come too late has the time limit as its reason.
        let reason = error?["details"]?["retry_error"]?["name"]?.string ?? name
        let isTimeout = reason.hasSuffix(".timed_out") || reason == "timed_out"
        let hint = name.hasSuffix(".cannot_find_host") ? hostHint : Outcome.hint(for: name)
        return Failure(
            isTimeout ? .timedOut : .transferFailed, "\(name): \(message)", hint: hint ?? error?["hint"]?.string)
    }

    /// The message, with the output of this command in place of the descriptor that it has passed.
    private static func inWordsOfTheCommand(_ message: String) -> String {
        let daemon = "cannot write the body to the descriptor that was passed"
        guard message.hasPrefix(daemon) else { return message }
        return "cannot write to standard output\(message.dropFirst(daemon.count))"
    }

    /// What this command can do about a failure for which the daemon has no advice.
    private static func hint(for name: String) -> String? {
        name.hasSuffix(".unsupported_url") ? "for another protocol, carpool curl runs the curl on PATH" : nil
    }

    /// The hint for a host without an address, if the options have other addresses.
    private var hostHint: String? {
        let connection = request.connection
        let entries = connection.resolve + connection.connectTo
        guard let entry = entries.first else { return nil }
        let option = connection.resolve.isEmpty ? "--connect-to" : "--resolve"
        return
            "check that '\(entry)' has the host and port of the URL, since \(option) applies to no other, and the spelling of hosts"
    }
}
