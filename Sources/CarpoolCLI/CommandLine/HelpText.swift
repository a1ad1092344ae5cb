/// The help, made from what the commands declare.
enum HelpText {
    /// The list of commands, the exit codes, and what holds for all of them.
    static func overview(of commands: [any Command.Type]) -> String {
        let commands = commands.map { "  " + column($0.name, 14) + $0.summary + "\n" }.joined()
        let codes = ExitCode.allCases.map { "  \($0.rawValue)  \($0.meaning)\n" }.joined()
        return """
            carpool: HTTP requests of all programs of this machine, over shared connections.

            Usage: carpool COMMAND [OPTIONS] ...

            Commands:
            \(commands)
            Every command that speaks to the daemon takes --socket PATH. Without it the socket is $CARPOOL_SOCKET,
            or the user's own, where a daemon is started when none runs. $CARPOOL_CLIENT names the client that the
            command counts as; without it that is the terminal or service that it runs in.

            Exit codes:
            \(codes)
            'carpool help COMMAND' tells more.

            """
    }

    /// The help of one command.
    static func of(_ command: any Command.Type) -> String {
        let usage = "carpool \(command.name) \(command.synopsis)"
        var text = "Usage: \(usage.last == " " ? String(usage.dropLast()) : usage)\n\n"
        text += "\(command.summary.prefix(1).uppercased())\(command.summary.dropFirst()).\n"
        if !command.details.isEmpty { text += "\n\(command.details)\n" }
        text += "\nOptions:\n" + command.specifications.map(line).joined()
        text += "\nExamples:\n" + command.examples.map { "  \($0)\n" }.joined()
        return text
    }

    private static func line(_ option: OptionSpecification) -> String {
        let short = option.short.map { "-\($0), " } ?? "    "
        let value = option.placeholder.map { " \($0)" } ?? ""
        return "  " + column(short + option.long + value, 29) + option.summary + "\n"
    }

    private static func column(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
