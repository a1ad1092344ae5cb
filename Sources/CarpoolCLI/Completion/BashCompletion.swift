/// The completions of bash.
enum BashCompletion {
    static func script(_ tree: CompletionTree) -> String {
        let functions = tree.commands.map { function($0.name, $0.options, $0.operandWords, $0.takesRequests) }.joined()
        let names = tree.commands.map(\.name)
        return """
            # Completions of bash for carpool, printed by 'carpool completion bash'.

            # Each of these sets what a command takes: 'options', 'operands', the words of an operand, and 'requests' if an
            # operand is a running request. With the name
            # of an option as the argument it sets 'kind', what the value of that option is, or nothing without one.

            \(function("", tree.options, names))\(functions)\(BashCompletion.rest)
            """
    }

    private static func function(
        _ name: String, _ options: [CompletionTree.Option], _ operands: [String], _ takesRequests: Bool = false
    ) -> String {
        var lines = ["_carpool_of_\(name.map { $0 == "-" ? "_" : String($0) }.joined())() {"]
        lines.append("    options=\(CompletionShell.quoted(options.flatMap(\.names).joined(separator: " ")))")
        lines.append("    operands=\(CompletionShell.quoted(operands.joined(separator: " ")))")
        if takesRequests { lines.append("    requests=1") }
        lines.append("    case $1 in")
        var kinds: [(value: CompletionTree.Value, names: [String])] = []
        for option in options where option.placeholder != nil {
            if let index = kinds.firstIndex(where: { $0.value == option.value }) {
                kinds[index].names += option.names
            } else {
                kinds.append((option.value, option.names))
            }
        }
        for kind in kinds {
            let pattern = kind.names.map(CompletionShell.quoted).joined(separator: " | ")
            lines.append("    \(pattern)) \(assignment(kind.value)) ;;")
        }
        return (lines + ["    *) kind= ;;", "    esac", "}", "", ""]).joined(separator: "\n")
    }

    private static func assignment(_ value: CompletionTree.Value) -> String {
        switch value {
        case .words(let words): "kind=words words=\(CompletionShell.quoted(words.joined(separator: " ")))"
        case .file: "kind='file'"
        case .directory: "kind='directory'"
        case .data: "kind='data'"
        case .text: "kind='text'"
        }
    }

    /// The function that bash calls. `COMP_WORDS` has `=` and `:` as words of their own.
    private static let rest = #"""
        # Sets 'kind' to what the value is that the word takes from the next one, or to nothing.
        _carpool_value_of() {
            local of=$1 word=$2
            kind=
            [[ $word == -* ]] || return 0
            if [[ $word == --* ]]; then
                "$of" "$word"
                return
            fi
            while word=${word:1}; [[ $word ]]; do
                "$of" "-${word:0:1}"
                [[ $kind ]] || continue
                [[ ${#word} == 1 ]] || kind=
                return
            done
        }

        _carpool() {
            local current=$2 of=_carpool_of_ kind='' words='' options='' operands='' requests='' i last=''
            for ((i = 1; i < COMP_CWORD; i++)); do
                last=${COMP_WORDS[i]}
                if [[ $kind ]]; then # a value, and what bash divides it into
                    while [[ ${COMP_WORDS[i]} == [=:@] || ${COMP_WORDS[i + 1]} == [=:] ]] && ((i + 1 < COMP_CWORD)); do
                        i=$((i + 1))
                    done
                    [[ ${COMP_WORDS[i]} == [=:@] ]] || kind=
                    continue
                fi
                if [[ $of == _carpool_of_ && $last != -* ]]; then
                    of=_carpool_of_${last//-/_}
                    declare -F "$of" >/dev/null || return 0
                    kind='' last=''
                    continue
                fi
                [[ $last != -- ]] || { "$of" ''; kind=; break; }
                _carpool_value_of "$of" "$last"
            done
            COMPREPLY=()
            case $kind in
            words) [[ ${COMP_WORDS[COMP_CWORD]} != : && ${COMP_WORDS[COMP_CWORD - 1]} != : ]] || return 0 ;;
            file)
                compopt -o default
                return
                ;;
            directory)
                compopt -o dirnames
                return
                ;;
            data)
                [[ $current != @* ]] || _carpool_files "${current#@}"
                return
                ;;
            text) return ;;
            *)
                "$of" ''
                words=$operands
                [[ ! $requests || $current == -* ]] || words=$(_carpool_requests)
                [[ $current != -* || $last == -- ]] || words=$options
                ;;
            esac
            mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
            [[ ${COMPREPLY[*]} != *: ]] || compopt -o nospace
        }

        # The names of the running requests.
        _carpool_requests() {
            local name rest
            "${COMP_WORDS[0]/#\~\//$HOME/}" completion requests 2>/dev/null | while read -r name rest; do
                printf '%s ' "$name"
            done
        }

        # Completes '@' and the name of a file that begins with the argument.
        _carpool_files() {
            local path quoted
            while IFS= read -r path; do
                printf -v quoted %q "$path"
                [[ ! -d $path ]] || { quoted+=/ && compopt -o nospace; }
                COMPREPLY+=("@$quoted")
            done < <(compgen -f -- "${1//\\/}")
        }

        complete -F _carpool carpool

        """#
}
