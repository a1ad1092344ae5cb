internal import CarpoolCaller
internal import CarpoolJSON

/// `carpool show`
enum ShowCommand: Command {
    static let name = "show"
    static let synopsis = "[OPTIONS] REQUEST"
    static let summary = "print what a request is, and when its steps happened"
    static let details = """
        REQUEST is a name from 'carpool ls'. For each attempt and redirect the times of queue, name, connection,
        TLS, sending, waiting and transfer are drawn on one scale; a reused connection has no name, connection
        and TLS.
        """

    static var takesRequests: Bool { true }

    static var examples: [String] { ["carpool show r_k3f9_1a", "carpool show --json r_k3f9_1a | jq .metrics"] }

    static var options: [Option<RequestNames>] {
        [Option("--json", "print the whole record as JSON") { $0.isJSON = true }, .socket, .help]
    }

    static var arguments: RequestNames { RequestNames() }

    static func add(_ operand: String, to arguments: inout RequestNames) throws(UsageError) {
        guard arguments.names.isEmpty else { throw UsageError("show takes one request, not also '\(operand)'") }
        try arguments.add(operand)
    }

    static func validate(_ arguments: RequestNames) throws(UsageError) {
        guard !arguments.names.isEmpty else { throw UsageError("show needs the name of a request: see carpool ls") }
    }

    static func run(_ arguments: RequestNames) throws(Failure) -> ExitCode {
        let daemon = try DaemonAccess(socket: arguments.socket)
        let name = arguments.names[0]
        let record = try daemon.call("request.get") { writer in
            writer.beginObject()
            writer.member("request", name)
            writer.member("detail", static: "full")
            writer.endObject()
        }
        if arguments.isJSON {
            try Terminal.printLine(record)
            return .success
        }
        let entry = try RequestList(daemon).entries(in: nil).first { $0["request"]?.string == name }
        let lines = RequestSheet(record, entry, .process()).lines
        try Terminal.print(lines.map { $0 + "\n" }.joined())
        return .success
    }
}
