internal import CarpoolCaller
internal import CarpoolJSON

/// Watches the state of the network.
final class NetworkWatch {
    /// A state of the network.
    struct Change {
        /// The message that contained it.
        enum Cause {
            case answer(JSON)
            case event(JSON)
        }

        let cause: Cause
        let report: ReachabilityReport
        /// Whether the routes to the host are known, if a host is watched.
        let isKnown: Bool
    }

    /// The subscription.
    let follower: Follower
    private let hasHost: Bool
    /// The last state of the host: events contain a host only when its routes have changed.
    private var host: JSON?

    /// A watch that ends at the command's timeout. An immediate one has no debounce interval.
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

    /// Waits for the next state and returns it, the first one at once; `nil` at the timeout.
    func next() throws(Failure) -> Change? {
        while true {
            switch try follower.next() {
            case .subscribed(let answer):
                host = nil
                if let change = change(answer, .answer(answer)) { return change }
            case .event(let event):
                if let data = event["data"], let change = change(data, .event(event)) { return change }
            case .lost: Terminal.printError("carpool: the connection to the daemon was lost; waiting for it")
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
