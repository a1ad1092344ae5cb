internal import CarpoolJSON
internal import Glibc

/// `carpool reachability`: whether packets can leave, for the world or to a host.
struct ReachabilityCommand {
    private let reachability: ReachabilityInvocation
    private let isJSON: Bool

    init(_ reachability: ReachabilityInvocation) {
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
            try CallCommand.print(answer)
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
