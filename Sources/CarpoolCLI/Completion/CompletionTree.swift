internal import CarpoolCurl

/// What can be completed: the commands with their options, from the same declarations as the help.
struct CompletionTree {
    struct Option: Hashable {
        /// The name without the hyphens.
        let long: String
        let short: Character?
        /// The placeholder of the value; `nil` for an option without a value.
        let placeholder: String?
        let value: Value
        let summary: String

        /// The names with their hyphens.
        var names: [String] { (short.map { ["-\($0)"] } ?? []) + ["--\(long)"] }
    }

    struct Command {
        let name: String
        let summary: String
        let options: [Option]
        /// The words that an operand can be.
        let operandWords: [String]
        /// Whether an operand is the name of a running request.
        var takesRequests = false
    }

    let commands: [Command]
    /// The options before the name of the command.
    let options: [Option]

    init(commands: [Command], options: [Option] = []) {
        self.commands = commands
        self.options = options
    }

    init(_ commands: [any CarpoolCLI.Command.Type]) {
        self.commands = commands.map { command in
            let options =
                command.name == "curl"
                ? CurlOptionTable.all.flatMap(Option.ofCurl) : command.specifications.map { Option($0) }
            return Command(
                name: command.name, summary: command.summary, options: options, operandWords: command.operandWords,
                takesRequests: command.takesRequests)
        }
        options = [.socket, .help, .version].map { Option($0) }
    }
}

extension CompletionTree.Option {
    init(_ specification: OptionSpecification) {
        long = String(specification.long.dropFirst(2))
        short = specification.short
        placeholder = specification.placeholder.map { String($0.filter { $0 != "'" }) }
        value = CompletionTree.Value(of: specification.long, placeholder: placeholder)
        summary = specification.summary
    }

    /// An option of curl, and `--no-NAME` where its help names it.
    static func ofCurl(_ option: CurlOption) -> [CompletionTree.Option] {
        let placeholder = option.takesText ? option.argument ?? "<text>" : nil
        let made = CompletionTree.Option(
            long: option.name, short: option.letter,
            placeholder: placeholder.map { String($0.filter { $0 != "<" && $0 != ">" }) },
            value: CompletionTree.Value(ofCurl: option), summary: option.summary)
        guard option.help.contains("--no-\(option.name)"), CurlOptionTable.named("no-\(option.name)") == nil else {
            return [made]
        }
        return [
            made,
            CompletionTree.Option(
                long: "no-\(option.name)", short: nil, placeholder: nil, value: .text,
                summary: "The opposite of --\(option.name)"),
        ]
    }
}
