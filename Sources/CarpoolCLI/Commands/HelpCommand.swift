/// `carpool help`, and what `--help` of any command does.
enum HelpCommand: Command {
    static let name = "help"
    static let synopsis = "[COMMAND]"
    static let summary = "print this, or the help of a command"

    static var examples: [String] { ["carpool help get"] }

    static var options: [Option<Arguments>] { [.help] }

    struct Arguments: CommandArguments {
        /// The name of a command; `nil` for the list of all.
        var topic: String?
        var socket: String?
    }

    static var arguments: Arguments { Arguments() }

    /// Ends at the first operand.
    static func parse(_ scanner: inout ArgumentScanner, socket: String?) throws(UsageError) -> Invocation? {
        while let argument = try scanner.next([.help], in: name) {
            guard case .operand(let topic) = argument else { continue }
            return Invocation(self, Arguments(topic: try CommandList.find(topic).name))
        }
        return Invocation(self, arguments)
    }

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let command = CommandList.all.first { $0.name == arguments.topic }
        try Terminal.print(command.map(HelpText.of) ?? HelpText.overview(of: CommandList.all))
        return .success
    }
}
