internal import CarpoolJSON

/// How the network stands now, and at every change.
final class NetworkWatch {
    /// One state.
    struct Change {
        /// What has told us.
        enum Cause {
            case answer(JSON)
            case event(JSON)
        }

        let cause: Cause
        let report: ReachabilityReport
        /// Whether the ways to the host are known by now, if there is one.
        let isKnown: Bool
    }

    /// The subscription, on which this command waits.
    let follower: Follower
    private let hasHost: Bool
    /// The last that was told of it: events tell of a host only when the ways to it have changed.
    private var host: JSON?

    /// A watch that ends at the command's timeout. An immediate one is told of losses that may be over soon.
    init(_ reachability: ReachabilityArguments, isImmediate: Bool = false) throws(Failure) {
        hasHost = reachability.host != nil
        let hosts = reachability.host.map { [$0] }
        follower = try Follower(
            socket: reachability.socket, timeoutMilliseconds: reachability.timeoutMilliseconds,
            method: "reachability.watch"
        ) { writer, _ in
            writer.beginObject()
            writer.member("hosts", hosts)
            if isImmediate {
                writer.member("lost_after_ms", 0)
                writer.member("min_interval_ms", 0)
            }
            writer.endObject()
        }
    }

    /// Waits for the next state, of which the first one comes at once; `nil` when the time is over.
    func next() throws(Failure) -> Change? {
        while true {
            switch try follower.next() {
            case .begun(let answer):
                host = nil
                if let change = change(answer, .answer(answer)) { return change }
            case .event(let event):
                if let data = event["data"], let change = change(data, .event(event)) { return change }
            case .lost: Terminal.complain("carpool: the daemon has gone; waiting for it")
            case .due: continue
            case .timedOut: return nil
            }
        }
    }

    private func change(_ state: JSON, _ cause: Change.Cause) -> Change? {
        guard let network = state["reachability"] else { return nil }
        host = state["hosts"]?[index: 0] ?? host
        return Change(
            cause: cause, report: ReachabilityReport(network, host: host), isKnown: !hasHost || host != nil)
    }
}
