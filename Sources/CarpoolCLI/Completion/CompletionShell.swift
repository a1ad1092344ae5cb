/// The shells that completions are printed for.
enum CompletionShell: String, CaseIterable {
    case bash, zsh, fish

    /// The script that the shell reads. It runs the command only for the names of running requests.
    func script(for commands: [any Command.Type]) -> String {
        let tree = CompletionTree(commands)
        return switch self {
        case .bash: BashCompletion.script(tree)
        case .zsh: ZshCompletion.script(tree)
        case .fish: FishCompletion.script(tree)
        }
    }

    /// The text as one word in single quotes, for bash and zsh.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
