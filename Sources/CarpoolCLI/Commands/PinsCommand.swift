internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON

/// `carpool pins`: prints the pins of a server's keys.
enum PinsCommand: Command {
    static let name = "pins"
    static let synopsis = "[OPTIONS] HOST[:PORT]"
    static let summary = "print the pins of a server's keys"
    static let details = """
        Connects, prints one pin (sha256//...) for each certificate that the server sends, its own first,
        and sends nothing. The server is not verified: compare the pins with those that you know.
        """

    static var examples: [String] { ["carpool pins example.com", "carpool pins example.com:8443"] }

    static var options: [Option<RequestArguments>] {
        [
            Option(
                "--timeout", takes: "TIME", "the timeout: seconds such as 2.5, or a span such as 500ms, 10s or 2m",
                read: TimeSpan.milliseconds
            ) { $0.timeoutMilliseconds = $1 }
        ] + Option.tls + Option.addresses + Option.proxy + [.socket, .help]
    }

    static var arguments: RequestArguments { RequestArguments(method: "HEAD") }

    static func add(_ operand: String, to arguments: inout RequestArguments) throws(UsageError) {
        guard arguments.url.isEmpty else { throw UsageError("pins takes one HOST, not also '\(operand)'") }
        guard !operand.isEmpty, !operand.contains("/") else {
            throw UsageError("pins takes HOST or HOST:PORT, not '\(operand)'")
        }
        arguments.url = "https://\(operand)/"
    }

    static func validate(_ arguments: RequestArguments) throws(UsageError) {
        guard !arguments.url.isEmpty else { throw UsageError("pins requires a HOST") }
    }

    static func run(_ arguments: RequestArguments) throws(Failure) -> ExitCode {
        var request = arguments
        request.trust.asksForKeys = true
        let record = try Failure.naming { () throws(Failure) in
            try DaemonAccess(socket: request.socket).call("request.perform") { writer in
                RequestWriter(request, [], nil).write(to: &writer)
            }
        }
        guard let keys = record["outcome"]?["error"]?["details"]?["presented_keys"], keys.count > 0 else {
            try Outcome(record, arguments).check()
            throw Failure(.transferFailed, "the server sent no certificate")
        }
        var text = ""
        for index in 0..<keys.count { text += "\(keys[index: index]?.string ?? "")\n" }
        try Terminal.print(text)
        return .success
    }
}
