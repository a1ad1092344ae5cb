internal import CarpoolClient
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
            if change.isKnown, change.report.isUsable { return .success }
            last = change.report
        }
        throw Failure(.timedOut, "still \(last?.summary ?? "without an answer of the daemon")")
    }
}
