/// `carpool completion bash | zsh | fish`
enum CompletionCommand: Command {
    static let name = "completion"
    static let synopsis = "bash | zsh | fish"
    static let summary = "print the completions of a shell"
    static let details = """
        The script completes commands, options, their values and files. It runs no program. Evaluate it, or
        save it where the shell finds it: clients/install-shell does that, and installs the manual.
        """

    static var examples: [String] { ["carpool completion bash", "carpool completion fish | source"] }

    static var options: [Option<Arguments>] { [.help] }

    static var operandWords: [String] { CompletionShell.allCases.map(\.rawValue) }

    struct Arguments: CommandArguments {
        var shell: CompletionShell?
        var socket: String?
    }

    static var arguments: Arguments { Arguments() }

    static func add(_ operand: String, to arguments: inout Arguments) throws(UsageError) {
        guard arguments.shell == nil, let shell = CompletionShell(rawValue: operand) else {
            throw UsageError("completion takes one of bash, zsh, fish, not '\(operand)'")
        }
        arguments.shell = shell
    }

    static func validate(_ arguments: Arguments) throws(UsageError) {
        guard arguments.shell != nil else { throw UsageError("completion needs bash, zsh or fish") }
    }

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        if let shell = arguments.shell { try Terminal.print(shell.script(for: CommandList.all)) }
        return .success
    }
}
