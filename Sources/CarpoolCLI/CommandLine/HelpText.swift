/// The help of the commands, made from the tables that the parser reads.
enum HelpText {
    /// The list of commands, the exit codes, and what holds for all of them.
    static var overview: String {
        let commands = Command.allCases.map { "  " + column($0.rawValue, 14) + $0.summary + "\n" }.joined()
        return """
            carpool: HTTP requests of all programs of this machine, over shared connections.

            Usage: carpool COMMAND [OPTIONS] ...

            Commands:
            \(commands)
            Every command that speaks to the daemon takes --socket PATH. Without it the socket is $CARPOOL_SOCKET,
            or the user's own, where a daemon is started when none runs. $CARPOOL_CLIENT names the client that the
            command counts as; without it that is the terminal or service that it runs in.

            Exit codes:
              0  the command did what it should
              1  the daemon refused the call
              2  the command line is wrong
              3  the daemon cannot be reached
              4  the request timed out, or the wait
              5  the status is 400 or more, with --fail
              6  packets cannot leave, or not to the host
              7  the transfer failed, or its result could not be written

            'carpool help COMMAND' tells more.

            """
    }

    /// The help of one command.
    static func of(_ command: Command) -> String {
        let usage = "carpool \(command.rawValue) \(command.synopsis)"
        var text = "Usage: \(usage.last == " " ? String(usage.dropLast()) : usage)\n\n"
        text += "\(command.summary.prefix(1).uppercased())\(command.summary.dropFirst()).\n"
        if !command.details.isEmpty { text += "\n\(command.details)\n" }
        text += "\nOptions:\n" + command.options.map(line).joined()
        text += "\nExamples:\n" + command.examples.map { "  \($0)\n" }.joined()
        return text
    }

    private static func line(_ option: Option) -> String {
        let specification = option.specification
        let short = specification.short.map { "-\($0), " } ?? "    "
        let value = specification.placeholder.map { " \($0)" } ?? ""
        return "  " + column(short + specification.long + value, 29) + specification.summary + "\n"
    }

    private static func column(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
