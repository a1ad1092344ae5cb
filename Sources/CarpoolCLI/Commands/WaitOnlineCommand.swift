internal import CarpoolJSON
internal import CarpoolSystem

/// `carpool wait-online`: ends when packets can leave, for the world or to a host.
struct WaitOnlineCommand {
    private let wait: ReachabilityInvocation

    init(_ wait: ReachabilityInvocation) { self.wait = wait }

    func run() throws(Failure) -> ExitCode {
        // A loss is told at once here: somebody who waits for the network must not be told of one that has just gone.
        let network = try NetworkWatch(wait, isImmediate: true)
        var last: ReachabilityReport?
        while let change = try network.next() {
            let report = try known(change)
            if change.isKnown, report.isKnown, report.isUsable { return .success }
            if report.isWithoutHost {
                throw Failure(
                    .notReachable, "no host has the name \(wait.host ?? "")",
                    hint: "the network is there; without a host wait-online waits for that alone")
            }
            last = report
        }
        throw Failure(.timedOut, "still \(last?.summary ?? "without an answer of the daemon")")
    }

    /// The state with the ways to the host. A watch begins before the name has been looked up, and tells of changes alone.
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
