/// The completions of fish.
enum FishCompletion {
    static func script(_ tree: CompletionTree) -> String {
        var lines = tree.options.map { line("not __carpool_command", $0) }
        lines += tree.commands.map { command in
            "complete -c carpool -n 'not __carpool_command' -a \(command.name) -d \(quoted(command.summary))"
        }
        for command in tree.commands where !command.operandWords.isEmpty {
            let words = quoted(command.operandWords.joined(separator: " "))
            lines.append("complete -c carpool -n '__carpool_command \(command.name)' -a \(words)")
        }
        let requests = tree.commands.filter(\.takesRequests).map(\.name).joined(separator: " ")
        if !requests.isEmpty {
            lines.append("complete -c carpool -n '__carpool_command \(requests)' -a '(__carpool_requests)'")
        }
        for (option, names) in merged(tree) {
            lines.append(line("__carpool_command \(names.joined(separator: " "))", option))
        }
        return """
            # Completions of fish for carpool, printed by 'carpool completion fish'.

            \(functions)
            complete -c carpool -f
            \(lines.joined(separator: "\n"))

            """
    }

    /// The conditions, and the files after `@`.
    private static let functions = #"""
        # Whether the line has a command; with names, whether it is one of them.
        function __carpool_command
            set -l words (commandline -opc)
            set -e words[1]
            while set -q words[1]
                switch $words[1]
                    case --socket
                        set -e words[1]
                    case '-*'
                    case '*'
                        test (count $argv) -eq 0; or contains -- $words[1] $argv
                        return
                end
                set -e words[1]
            end
            return 1
        end

        # The running requests with their methods and URLs.
        function __carpool_requests
            set -l words (commandline -opc)
            $words[1] completion requests 2>/dev/null
        end

        # Completes the name of a file after '@'.
        function __carpool_data
            set -l word (commandline -ct | string replace -r '^(--[^=]*=|-[^-@])' '')
            string match -q '@*' -- $word
            and printf '@%s\n' (__fish_complete_path (string sub -s 2 -- $word) | string replace -r '\t.*' '')
        end

        """#

    /// Each option once, with the commands that have it.
    private static func merged(_ tree: CompletionTree) -> [(CompletionTree.Option, [String])] {
        var order: [CompletionTree.Option] = []
        var names: [CompletionTree.Option: [String]] = [:]
        for command in tree.commands {
            for option in command.options {
                if names[option] == nil { order.append(option) }
                names[option, default: []].append(command.name)
            }
        }
        return order.map { ($0, names[$0] ?? []) }
    }

    private static func line(_ condition: String, _ option: CompletionTree.Option) -> String {
        let short = option.short.map { " -s \(quoted(String($0)))" } ?? ""
        let value = option.placeholder == nil ? "" : " " + flags(option.value)
        return
            "complete -c carpool -n \(quoted(condition))\(short) -l \(option.long)\(value) -d \(quoted(option.summary))"
    }

    private static func flags(_ value: CompletionTree.Value) -> String {
        switch value {
        case .words(let words): "-x -a \(quoted(words.joined(separator: " ")))"
        case .file: "-r -F"
        case .directory: "-x -a '(__fish_complete_directories)'"
        case .data: "-x -a '(__carpool_data)'"
        case .text: "-x"
        }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.map { "'\\".contains($0) ? "\\\($0)" : String($0) }.joined() + "'"
    }
}
