internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem

/// `carpool completion bash | zsh | fish | requests`
enum CompletionCommand: Command {
    static let name = "completion"
    static let synopsis = "bash | zsh | fish | requests"
    static let summary = "print the completions of a shell"
    static let details = """
        The script completes commands, options, their values and files. Evaluate it, or save it where the shell
        finds it: clients/install-shell does that, and installs the manual. For the names of running requests
        it runs 'carpool completion requests', which prints them with method and URL, and starts no daemon.
        """

    static var examples: [String] { ["carpool completion bash", "carpool completion fish | source"] }

    static var options: [Option<Arguments>] { [.help] }

    static var operandWords: [String] { CompletionShell.allCases.map(\.rawValue) + [requests] }

    /// The operand for the names of running requests.
    private static let requests = "requests"
    /// The most requests that are printed: more are of no use in a shell.
    private static let mostRequests = 100

    struct Arguments: CommandArguments {
        var shell: CompletionShell?
        /// Whether the running requests are printed.
        var wantsRequests = false
        var socket: String?
    }

    static var arguments: Arguments { Arguments() }

    static func add(_ operand: String, to arguments: inout Arguments) throws(UsageError) {
        let isFirst = arguments.shell == nil && !arguments.wantsRequests
        if isFirst, operand == requests {
            arguments.wantsRequests = true
        } else if isFirst, let shell = CompletionShell(rawValue: operand) {
            arguments.shell = shell
        } else {
            let near = isFirst ? NearestName.suggestion(for: operand, among: operandWords) : ""
            throw UsageError("completion takes one of bash, zsh, fish, requests, not '\(operand)'\(near)")
        }
    }

    static func validate(_ arguments: Arguments) throws(UsageError) {
        guard arguments.shell != nil || arguments.wantsRequests else {
            throw UsageError("completion needs bash, zsh, fish or requests")
        }
    }

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        if arguments.wantsRequests { try printRequests() }
        if let shell = arguments.shell { try Terminal.print(shell.script(for: CommandList.all)) }
        return .success
    }

    /// Prints the running requests, the newest first: the name, a tabulator, method and URL. Nothing without a daemon.
    private static func printRequests() throws(Failure) {
        let finder = DaemonFinder(location: SocketLocation.resolve(), launcher: nil)
        guard let daemon = try? DaemonAccess(finder), let entries = try? RequestList(daemon).active() else { return }
        for entry in entries.prefix(mostRequests) {
            let name = entry["request"]?.string ?? ""
            let text = "\(entry["method"]?.string ?? "") \(entry["url"]?.string ?? "")"
            try Terminal.print("\(PlainText.escaped(name))\t\(PlainText.escaped(text))\n")
        }
    }
}
