/// Reads one option of a command line or of a file of options.
enum CurlOptionReader {
    /// Applies the options of a word: `--name`, letters such as `-abc`, or, in a file, `name`. The text is what follows
    /// the word; `nil` for nothing. Returns whether an option took it.
    static func read(
        _ word: String, _ text: String?, into line: inout CurlCommandLine
    ) throws(CurlError) -> Bool {
        if word.hasPrefix("--") { return try readName(String(word.dropFirst(2)), text, &line) }
        if word.hasPrefix("-") { return try readLetters(word.dropFirst(), text, &line) }
        return try readName(word, text, &line)
    }

    private static func readName(
        _ word: String, _ text: String?, _ line: inout CurlCommandLine
    ) throws(CurlError) -> Bool {
        let isExpanded = word.hasPrefix("expand-")
        let negated = word.hasPrefix("no-") ? CurlOptionTable.named(String(word.dropFirst(3))) : nil
        let isNegated = negated != nil
        guard let option = negated ?? CurlOptionTable.named(isExpanded ? String(word.dropFirst(7)) : word) else {
            throw CurlValueError.unknown
        }
        if isNegated, !option.isReversible { throw CurlValueError.irreversible }
        if isExpanded, !option.takesText { throw CurlValueError.expansion }
        guard option.takesText else {
            try apply(option, "", isOn: !isNegated, &line)
            return false
        }
        guard isExpanded, let text else { return try applyText(option, text, &line) }
        return try applyText(option, try line.variables.expand(text, &line.warnings), &line)
    }

    /// Applies combined letters. The first one that takes a text has the rest of the word, or the text after it.
    private static func readLetters(
        _ word: Substring, _ text: String?, _ line: inout CurlCommandLine
    ) throws(CurlError) -> Bool {
        guard !word.isEmpty else { throw CurlValueError.unknown }
        var letters = word
        while let letter = letters.popFirst(), line.answer == nil {
            guard let option = CurlOptionTable.lettered(letter) else { throw CurlValueError.unknown }
            guard option.takesText else {
                try apply(option, "", isOn: true, &line)
                continue
            }
            guard letters.isEmpty else {
                _ = try applyText(option, String(letters), &line)
                return false
            }
            return try applyText(option, text, &line)
        }
        return false
    }

    /// Applies an option with its text. Returns whether there was one: the help needs none.
    private static func applyText(
        _ option: CurlOption, _ text: String?, _ line: inout CurlCommandLine
    ) throws(CurlError) -> Bool {
        guard let text = text ?? (option.name == "help" ? "" : nil) else { throw CurlValueError.missing }
        if option.isFile, text.hasPrefix("-"), text != "-" {
            line.warnings.append("The filename argument '\(text)' looks like a flag.")
        } else if text.hasPrefix("\u{201C}") {
            line.warnings.append(
                "The argument '\(text)' starts with a Unicode quote where maybe an ASCII \" was intended?")
        }
        try apply(option, text, isOn: true, &line)
        return true
    }

    private static func apply(
        _ option: CurlOption, _ text: String, isOn: Bool, _ line: inout CurlCommandLine
    ) throws(CurlError) {
        switch option.effect {
        case .flag(let change): try change(&line, isOn)
        case .action(let change): try change(&line)
        case .text(let change): try change(&line, text)
        case .word(let change):
            if text.isEmpty { throw CurlValueError.blank }
            try change(&line, text)
        case .configuration: try CurlConfigurationFile.read(text, into: &line)
        case .nothing: return
        case .deprecated: line.warnings.append("--\(option.name) is deprecated and has no function anymore")
        case .real: if isOn { line.needsReal("--\(option.name)") }
        }
    }
}
