internal import CarpoolCaller

/// The arguments of `carpool reachability` and `carpool wait-online`.
struct ReachabilityArguments: CommandArguments {
    /// The host whose reachability is asked for; `nil` for any network.
    var host: String?
    var isFresh = false
    var watches = false
    var isJSON = false
    var timeoutMilliseconds: Int?
    var socket: String?

    /// Sets the host.
    mutating func add(host operand: String, to command: String) throws(UsageError) {
        guard !operand.isEmpty else { throw UsageError("\(command): the host is empty") }
        guard host == nil else { throw UsageError("\(command) takes at most one HOST, not also '\(operand)'") }
        host = operand
    }
}
