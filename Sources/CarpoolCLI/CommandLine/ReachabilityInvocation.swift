/// `carpool reachability` or `carpool wait-online` as it was typed.
struct ReachabilityInvocation: Equatable {
    /// The host that the ways are asked to; `nil` for the world.
    var host: String?
    var isFresh = false
    var watches = false
    var isJSON = false
    var timeoutMilliseconds: Int?
    var socket: String?
    private let command: Command

    init(_ command: Command) { self.command = command }

    mutating func apply(_ option: Option, _ value: String) throws(UsageError) {
        switch option {
        case .fresh: isFresh = true
        case .watch: watches = true
        case .asJSON: isJSON = true
        case .timeout: timeoutMilliseconds = try TimeSpan.milliseconds(value, in: command)
        default: break
        }
    }

    mutating func apply(operand: String) throws(UsageError) {
        guard host == nil, !operand.isEmpty else {
            throw UsageError("\(command.rawValue) takes one host", in: command)
        }
        host = operand
    }

    /// What only the whole command line shows.
    func check() throws(UsageError) {
        guard !isFresh || !watches else {
            throw UsageError("--watch is told of every change as it comes; --fresh says nothing beside it", in: command)
        }
    }
}
