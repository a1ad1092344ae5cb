internal import CarpoolCaller

/// The help, composed from the declarations of the commands.
enum HelpText {
    /// The help of `carpool`: its commands and exit codes.
    static func overview(of commands: [any Command.Type]) -> String {
        let commands = commands.map { "  " + column($0.name, 14) + $0.summary + "\n" }.joined()
        var codes = ""
        ExitCode.visit { codes += "  \($0.rawValue)  \($0.meaning)\n" }
        return """
            carpool: HTTP requests over connections that all programs of this machine share.

            Usage: carpool COMMAND [OPTIONS] ...

            Commands:
            \(commands)
            Commands that use the daemon take --socket PATH. The default is $CARPOOL_SOCKET, or else the user's own
            socket, where a daemon is started if none runs. $CARPOOL_CLIENT is the name of the client for quotas;
            the default is the terminal or service that the command runs in.

            Exit codes:
            \(codes)
            Run 'carpool help COMMAND' for the help of a command.

            """
    }

    /// The help of one command.
    static func of(_ command: any Command.Type) -> String {
        let usage = "carpool \(command.name) \(command.synopsis)"
        var text = "Usage: \(usage.last == " " ? String(usage.dropLast()) : usage)\n\n"
        text += "\(command.summary.prefix(1).uppercased())\(command.summary.dropFirst()).\n"
        if !command.details.isEmpty { text += "\n\(command.details)\n" }
        for group in OptionTopic.groups(of: command.specifications) {
            text += "\n\(group.title):\n" + group.options.map(line).joined()
        }
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
