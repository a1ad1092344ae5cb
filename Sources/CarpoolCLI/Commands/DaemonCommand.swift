internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// `carpool daemon start | stop | status | restart`
enum DaemonCommand: Command {
    static let name = "daemon"
    static let synopsis = "[OPTIONS] start | stop | status | restart"
    static let summary = "start, stop or inspect the daemon"
    static let details = """
        start     start the daemon if it does not run (requests start it too)
        stop      finish the running requests, then end the daemon
        status    print whether it runs; the exit code is 3 if it does not
        restart   stop and start
        """

    static var examples: [String] { ["carpool daemon status", "carpool daemon start --socket /tmp/test.sock"] }

    static var options: [Option<Arguments>] { [.socket, .help] }

    static var operandWords: [String] { Action.allCases.map(\.rawValue) }

    /// The operand.
    enum Action: String, CaseIterable {
        case start, stop, status, restart
    }

    struct Arguments: CommandArguments {
        var action: Action?
        var socket: String?
    }

    static var arguments: Arguments { Arguments() }

    static func add(_ operand: String, to arguments: inout Arguments) throws(UsageError) {
        guard arguments.action == nil, let action = Action(rawValue: operand) else {
            let near = arguments.action == nil ? NearestName.suggestion(for: operand, among: operandWords) : ""
            throw UsageError("daemon takes one of start, stop, status, restart, not '\(operand)'\(near)")
        }
        arguments.action = action
    }

    static func validate(_ arguments: Arguments) throws(UsageError) {
        guard arguments.action != nil else { throw UsageError("daemon needs start, stop, status or restart") }
    }

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let control = DaemonControl(location: SocketLocation.resolve(option: arguments.socket))
        switch arguments.action {
        case .start: try control.start()
        case .stop: try control.stop()
        case .status: return try control.status()
        case .restart:
            try control.stop()
            try control.start()
        case nil: break
        }
        return .success
    }
}
