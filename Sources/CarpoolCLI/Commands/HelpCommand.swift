/// `carpool help`, also run by `--help` of any command.
enum HelpCommand: Command {
    static let name = "help"
    static let synopsis = "[COMMAND]"
    static let summary = "print the list of commands, or the help of one"

    static var examples: [String] { ["carpool help get"] }

    static var options: [Option<Arguments>] { [.help] }

    struct Arguments: CommandArguments {
        /// The name of a command; `nil` for the list of commands.
        var topic: String?
        var isJSON = false
        var socket: String?
    }

    static var arguments: Arguments { Arguments() }

    /// Stops at the first operand. `--json` is not in the help: only `docs/generate` uses it.
    static func parse(_ scanner: inout ArgumentScanner, socket: String?) throws(UsageError) -> Invocation? {
        while let argument = try scanner.next([.help, json], in: name) {
            switch argument {
            case .operand(let topic): return Invocation(self, Arguments(topic: try CommandList.find(topic).name))
            case .option(1, _): return Invocation(self, Arguments(isJSON: true))
            case .option: continue
            }
        }
        return Invocation(self, arguments)
    }

    private static var json: OptionSpecification {
        OptionSpecification(long: "--json", short: nil, placeholder: nil, summary: "print the help as JSON")
    }

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        if arguments.isJSON {
            try Terminal.print(HelpDocument.json(of: CommandList.all))
            return .success
        }
        let command = CommandList.all.first { $0.name == arguments.topic }
        try Terminal.print(command.map(HelpText.of) ?? HelpText.overview(of: CommandList.all))
        return .success
    }
}
