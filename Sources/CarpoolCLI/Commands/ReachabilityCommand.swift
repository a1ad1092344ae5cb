internal import CarpoolCaller
internal import CarpoolJSON
internal import Glibc

/// `carpool reachability`: prints the state of the network, or whether a host can be reached.
enum ReachabilityCommand: Command {
    static let name = "reachability"
    static let synopsis = "[OPTIONS] [HOST]"
    static let summary = "print the state of the network, or whether a host can be reached"
    static let details = """
        Prints a table on a terminal, otherwise JSON. HOST is a name or an address. Nothing is sent to it: the
        kernel is asked for the route. The exit code is 6 if packets cannot leave.
        """

    static var examples: [String] { ["carpool reachability", "carpool reachability --watch example.com"] }

    static var options: [Option<ReachabilityArguments>] {
        [
            Option("--fresh", "read the state of the interfaces again first") { $0.isFresh = true },
            Option("--watch", short: "w", "keep running, and print every change") { $0.watches = true },
            Option("--json", "print JSON on a terminal too") { $0.isJSON = true },
            .socket, .help,
        ]
    }

    static var arguments: ReachabilityArguments { ReachabilityArguments() }

    static func add(_ operand: String, to arguments: inout ReachabilityArguments) throws(UsageError) {
        try arguments.add(host: operand, to: name)
    }

    static func validate(_ arguments: ReachabilityArguments) throws(UsageError) {
        guard !arguments.isFresh || !arguments.watches else {
            throw UsageError("--watch prints every change; --fresh has no effect beside it")
        }
    }

    static func run(_ arguments: ReachabilityArguments) throws(Failure) -> ExitCode {
        try ReachabilityPrinter(arguments).run()
    }
}

/// Prints the state of the network, once or at each change.
private struct ReachabilityPrinter {
    private let reachability: ReachabilityArguments
    private let isJSON: Bool

    init(_ reachability: ReachabilityArguments) {
        self.reachability = reachability
        isJSON = reachability.isJSON || isatty(STDOUT_FILENO) == 0
    }

    func run() throws(Failure) -> ExitCode {
        guard !reachability.watches else { return try watch() }
        let answer = try DaemonAccess(socket: reachability.socket).call("reachability.get") { writer in
            writer.beginObject()
            writer.member("host", reachability.host)
            if reachability.isFresh { writer.member("fresh", true) }
            writer.endObject()
        }
        let report = ReachabilityReport(answer, host: answer["host"])
        if isJSON {
            try Terminal.printLine(answer)
        } else {
            try Terminal.print(report.lines.map { "\($0)\n" }.joined())
        }
        return report.isUsable ? .success : .notReachable
    }

    /// Prints the state, then each change, until a signal ends it.
    private func watch() throws(Failure) -> ExitCode {
        let network = try NetworkWatch(reachability)
        let output = EventOutput(network.follower, isPretty: false)
        while let change = try network.next() {
            guard isJSON else {
                try output.line(change.report.summary)
                continue
            }
            switch change.cause {
            case .event(let event): try output.write(event)
            case .answer(let answer):
                try output.write("snapshot", of: answer) { writer in
                    writer.member("reachability", answer["reachability"])
                    writer.member("hosts", answer["hosts"])
                }
            }
        }
        return .success
    }
}
