internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON

/// Prints a request as a command line of curl. The request is made in the daemon and not sent.
struct DryRun {
    private let request: RequestArguments
    private let daemon: DaemonAccess

    /// How long a request may take to be made, as one with a large form, and the time between two questions.
    private static let mostMilliseconds = 10_000
    private static let pauseMilliseconds = 10

    init(_ request: RequestArguments, _ daemon: DaemonAccess) {
        self.request = request
        self.daemon = daemon
    }

    func run(_ writer: RequestWriter) throws(Failure) -> ExitCode {
        let destination = request.output.flatMap { DownloadDestination($0, request, daemon) }
        let pending = try PendingRequest(daemon, writer) { json in
            json.member("start", static: "manual")
            json.member("setup", static: "eager")
            // A download asks for no compression.
            if let destination {
                json.member("kind", static: "download")
                destination.write(to: &json, failsOnStatus: request.failsOnStatus)
            }
        }
        defer {
            _ = try? pending.call("request.cancel")
            pending.dismiss()
        }
        let line = DryRunLine(try text(of: pending), request).text
        try Terminal.print(line + "\n")
        if line.contains("(hidden)") { Terminal.printError("carpool: the line has (hidden) in place of secrets") }
        return .success
    }

    /// The line of the daemon, once it has made the request.
    private func text(of pending: PendingRequest) throws(Failure) -> String {
        var left = DryRun.mostMilliseconds / DryRun.pauseMilliseconds
        while true {
            let answer = try pending.call("request.curl")
            if let text = answer["curl"]?.string { return text }
            left -= 1
            guard left > 0, try pending.poll(milliseconds: DryRun.pauseMilliseconds)["finished"]?.bool == false else {
                throw Failure(.transferFailed, answer["reason"]?.string ?? "there is no request to send")
            }
        }
    }
}
