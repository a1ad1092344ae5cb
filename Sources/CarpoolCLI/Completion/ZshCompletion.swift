/// The completions of zsh, for a folder of `$fpath` or for `source`.
enum ZshCompletion {
    static func script(_ tree: CompletionTree) -> String {
        let commands = tree.commands.map { command in
            // A message in place of '{:}' would keep zsh from inserting an option.
            let words = command.operandWords.joined(separator: " ")
            let operand =
                command.takesRequests
                ? "*:request:_carpool_requests" : words.isEmpty ? "*:operand:{:}" : "*:operand:(\(words))"
            return "        \(command.name))\n" + arguments(command.options, [operand], "            ")
                + "            ;;\n"
        }
        let names = tree.commands.map { "        \(CompletionShell.quoted("\($0.name):\($0.summary)"))\n" }.joined()
        return """
            \(helpers)
            _carpool() {
                local curcontext=$curcontext state state_descr line ret=1
                local -A opt_args
                local -a commands
                commands=(
            \(names)    )
            \(arguments(tree.options, ["1:command:->command", "*::operand:->operand"], "    ", "-C -A '-*' "))\
                case $state in
                command) _describe -t commands command commands && ret=0 ;;
                operand)
                    case $words[1] in
            \(commands.joined())        esac
                    ;;
                esac
                return ret
            }

            if [[ $funcstack[1] == _carpool ]]; then _carpool "$@"; else compdef _carpool carpool; fi

            """
    }

    /// The functions for operands.
    private static let helpers = """
        #compdef carpool
        # Completions of zsh for carpool, printed by 'carpool completion zsh'.

        # Completes the name of a file after '@'.
        _carpool_data() {
            if compset -P '@'; then _files; else _message 'text, or @FILE'; fi
        }

        # Completes the name of a running request, with its method and URL.
        _carpool_requests() {
            local -a requests
            local name rest
            while IFS=$'\\t' read -r name rest; do
                requests+=("${name//:/\\\\:}:$rest")
            done < <(_call_program requests ${(q)service} completion requests 2>/dev/null)
            _describe -t requests 'running request' requests
        }

        """

    /// A call of `_arguments`: options may be joined, and none follow `--`.
    private static func arguments(
        _ options: [CompletionTree.Option], _ operands: [String], _ indent: String, _ flags: String = ""
    ) -> String {
        let specifications = options.flatMap(specifications) + operands
        let lines = specifications.map { " \\\n\(indent)    \(CompletionShell.quoted($0))" }.joined()
        return "\(indent)_arguments \(flags)-s -S :\(lines) && ret=0\n"
    }

    /// The specifications of an option: one with a value may be repeated, another one excludes itself.
    private static func specifications(_ option: CompletionTree.Option) -> [String] {
        let description = "[\(escaped(option.summary))]"
        guard let placeholder = option.placeholder else {
            let names = option.names.map(escaped)
            let excluded = "(\(names.joined(separator: " ")))"
            return names.map { "\(excluded)\($0)\(description)" }
        }
        let value = ":\(escaped(placeholder)):\(action(option.value))"
        let short = option.short.map { ["*\(escaped("-\($0)"))+\(description)\(value)"] } ?? []
        return short + ["*--\(option.long)=\(description)\(value)"]
    }

    private static func action(_ value: CompletionTree.Value) -> String {
        switch value {
        case .words(let words): "(\(words.map(escaped).joined(separator: " ")))"
        case .file: "_files"
        case .directory: "_files -/"
        case .data: "_carpool_data"
        case .text: " "
        }
    }

    /// The text with a backslash before what ends a part of a specification.
    private static func escaped(_ text: String) -> String {
        text.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}
