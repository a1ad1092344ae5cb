internal import CarpoolCaller

/// `carpool pause`
enum PauseCommand: Command {
    static let name = "pause"
    static let synopsis = "[OPTIONS] REQUEST..."
    static let summary = "pause requests"
    static let details = "REQUEST is a name from 'carpool ls'. To repeat the command changes nothing."

    static var takesRequests: Bool { true }

    static var examples: [String] { ["carpool pause r_k3f9_1a"] }

    static var options: [Option<RequestNames>] { [.socket, .help] }

    static var arguments: RequestNames { RequestNames() }

    static func add(_ operand: String, to arguments: inout RequestNames) throws(UsageError) {
        try arguments.add(operand)
    }

    static func validate(_ arguments: RequestNames) throws(UsageError) {
        guard !arguments.names.isEmpty else { throw UsageError("pause needs the name of a request: see carpool ls") }
    }

    static func run(_ arguments: RequestNames) throws(Failure) -> ExitCode {
        try arguments.change("request.suspend", done: "paused", already: "was paused already")
    }
}
