internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// `carpool wait-online`: ends when the network is up, or a host can be reached.
enum WaitOnlineCommand: Command {
    static let name = "wait-online"
    static let synopsis = "[OPTIONS] [HOST]"
    static let summary = "wait until the network is up, or a host can be reached"
    static let details = """
        Ends as soon as the kernel has a route. HOST is a name or an address; nothing is sent to it. The exit
        code is 4 after --timeout, and 6 if no host has that name.
        """

    static var examples: [String] { ["carpool wait-online --timeout 30"] }

    static var options: [Option<ReachabilityArguments>] {
        [
            Option(
                "--timeout", takes: "TIME", "the timeout: seconds such as 2.5, or a span such as 500ms, 10s or 2m",
                read: TimeSpan.milliseconds
            ) { $0.timeoutMilliseconds = $1 },
            .socket, .help,
        ]
    }

    static var arguments: ReachabilityArguments { ReachabilityArguments() }

    static func add(_ operand: String, to arguments: inout ReachabilityArguments) throws(UsageError) {
        try arguments.add(host: operand, to: name)
    }

    static func run(_ arguments: ReachabilityArguments) throws(Failure) -> ExitCode {
        try NetworkWait(arguments).run()
    }
}

/// Waits for the network.
private struct NetworkWait {
    private let wait: ReachabilityArguments

    init(_ wait: ReachabilityArguments) { self.wait = wait }

    func run() throws(Failure) -> ExitCode {
        // Losses are reported without the debounce interval: the command must not report a network that is gone.
        let network = try NetworkWatch(wait, isImmediate: true)
        var last: ReachabilityReport?
        while let change = try network.next() {
            let report = try known(change)
            if change.isKnown, report.isKnown, report.isUsable { return .success }
            if report.isWithoutHost {
                throw Failure(
                    .notReachable, "host not found: \(wait.host ?? "")",
                    hint: "the network is usable; without a host, wait-online waits only for the network")
            }
            last = report
        }
        throw Failure(.timedOut, last.map { "timed out: \($0.summary)" } ?? "timed out: the daemon did not answer")
    }

    /// The state with the routes to the host: a watch begins before the name is resolved, and reports only changes.
    private func known(_ change: NetworkWatch.Change) throws(Failure) -> ReachabilityReport {
        guard !change.report.isKnown else { return change.report }
        let answer = try DaemonAccess(socket: wait.socket).call("reachability.get") { writer in
            writer.beginObject()
            writer.member("host", wait.host)
            writer.endObject()
        }
        return ReachabilityReport(answer, host: answer["host"])
    }
}
