internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem

/// `carpool ls`
enum LsCommand: Command {
    static let name = "ls"
    static let synopsis = "[OPTIONS]"
    static let summary = "list the requests that run now"
    static let details = """
        The requests of all programs of this user, the newest first. On a terminal long lines are cut. Requests
        that have ended are kept for a day if they were submitted; --all lists them too.
        """

    static var examples: [String] { ["carpool ls", "carpool ls --all --limit 20", "carpool ls --json | jq -r .url"] }

    static var options: [Option<Arguments>] {
        [
            Option("--all", "list those that have ended too") { $0.listsAll = true },
            Option("--limit", takes: "N", "list at most N", read: limit) { $0.limit = $1 },
            Option("--json", "print each as a line of JSON") { $0.isJSON = true },
            .socket, .help,
        ]
    }

    struct Arguments: CommandArguments {
        var listsAll = false
        var limit = Int.max
        var isJSON = false
        var socket: String?
    }

    static var arguments: Arguments { Arguments() }

    private static func limit(_ text: String) throws(UsageError) -> Int {
        guard let limit = Int(text), limit > 0 else {
            throw UsageError("--limit takes a number from 1 on, not '\(text)'")
        }
        return limit
    }

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let list = RequestList(try DaemonAccess(socket: arguments.socket))
        let entries = try arguments.listsAll ? RequestList.newestFirst(list.entries(in: nil)) : list.active()
        let shown = entries.prefix(arguments.limit)
        if arguments.isJSON {
            for entry in shown { try Terminal.printLine(entry) }
            return .success
        }
        let table = RequestTable(.process(), now: WallClock.microseconds())
        try Terminal.print(([table.heading] + shown.map(table.line)).map { $0 + "\n" }.joined())
        return .success
    }
}
