internal import CarpoolCaller
internal import CarpoolSystem

/// `carpool help`, also run by `--help` of any command.
enum HelpCommand: Command {
    static let name = "help"
    static let synopsis = "[OPTIONS] [COMMAND]"
    static let summary = "print the list of commands, or the help of one"
    static let details = "--man prints a page of the manual for man(1): carpool(1), or carpool-COMMAND(1)."

    static var examples: [String] { ["carpool help get", "carpool help --man get | man -l -"] }

    static var options: [Option<Arguments>] {
        [Option("--man", "print a page of the manual, in roff") { $0.isManual = true }, .help]
    }

    static var operandWords: [String] { CommandList.all.map { $0.name } }

    struct Arguments: CommandArguments {
        /// The name of a command; `nil` for the list of commands.
        var topic: String?
        var isJSON = false
        var isManual = false
        var socket: String?
    }

    static var arguments: Arguments { Arguments() }

    /// Parses in its own way: `--json` is not in the help: only `docs/generate` uses it.
    static func parse(_ scanner: inout ArgumentScanner, socket: String?) throws(UsageError) -> Invocation? {
        var arguments = arguments
        let manual = options[0].specification
        while let argument = try scanner.next({ [.help, json, manual] }, in: name) {
            switch argument {
            case .operand(let topic):
                guard arguments.topic == nil else { throw UsageError("help takes one COMMAND, not also '\(topic)'") }
                arguments.topic = try CommandList.find(topic).name
            case .option(1, _): arguments.isJSON = true
            case .option(2, _): arguments.isManual = true
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
        try Terminal.print(arguments.isManual ? manual(of: command) : help(of: command))
        return .success
    }

    private static func help(of command: (any Command.Type)?) -> String {
        command.map(HelpText.of) ?? HelpText.overview(of: CommandList.all)
    }

    private static func manual(of command: (any Command.Type)?) -> String {
        command.map { ManualPage.of($0, version: Release.version) }
            ?? ManualPage.overview(of: CommandList.all, version: Release.version)
    }
}
