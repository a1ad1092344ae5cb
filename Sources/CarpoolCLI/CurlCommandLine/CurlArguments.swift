internal import CarpoolSystem

/// Reads the arguments of `carpool curl`.
enum CurlArguments {
    /// Reads a command line, with the configuration file of the user unless `-q` comes first. What was read before an
    /// error stays, because it says whether messages are printed.
    static func read(_ arguments: [String], into line: inout CurlCommandLine) throws(CurlError) {
        let isPlain = arguments.first.map { $0 == "--disable" || $0.hasPrefix("-q") } ?? false
        do throws(CurlError) {
            if !isPlain { try CurlConfigurationFile.readDefault(into: &line) }
            try readAll(arguments, into: &line)
            guard line.answer == nil else { return }
            try finish(&line, arguments)
        } catch {
            var complete = error
            complete.warnings = line.warnings + error.warnings
            throw complete
        }
    }

    private static func readAll(_ arguments: [String], into line: inout CurlCommandLine) throws(CurlError) {
        var rest = arguments[...]
        var hasEnded = false
        while let argument = rest.popFirst(), line.answer == nil {
            if hasEnded || !argument.hasPrefix("-") {
                if argument.isEmpty { throw CurlValueError.blank.naming("") }
                line.add(url: argument)
            } else if argument == "--" {
                hasEnded = true
            } else if argument.hasPrefix("--") {
                try readLong(argument, &rest, &line)
            } else {
                try readShort(argument, &rest, &line)
            }
        }
    }

    private static func readLong(
        _ argument: String, _ rest: inout ArraySlice<String>, _ line: inout CurlCommandLine
    ) throws(CurlError) {
        do throws(CurlError) {
            try apply(String(argument.dropFirst(2)), &line) { rest.popFirst() }
        } catch {
            throw error.naming(argument)
        }
    }

    /// Applies an option by its long name; the closure returns its text.
    static func apply(
        _ name: String, _ line: inout CurlCommandLine, text: () -> String?
    ) throws(CurlError) {
        var name = name
        let isExpanded = name.hasPrefix("expand-")
        if isExpanded { name = String(name.dropFirst(7)) }
        let isNegated = name.hasPrefix("no-") && !isExpanded && CurlOptionTable.named(name) == nil
        if isNegated { name = String(name.dropFirst(3)) }
        guard let option = CurlOptionTable.named(name) else { throw CurlValueError.unknown }
        if isNegated {
            guard !option.takesText else { throw CurlValueError.irreversible }
        }
        if isExpanded, !option.takesText { throw CurlValueError.expansion }
        guard option.takesText else { return try apply(option, "", isOn: !isNegated, &line) }
        guard var value = text() else { throw CurlValueError.missing }
        if isExpanded { value = try line.variables.expand(value, &line.warnings) }
        try apply(option, value, isOn: true, &line)
    }

    private static func readShort(
        _ argument: String, _ rest: inout ArraySlice<String>, _ line: inout CurlCommandLine
    ) throws(CurlError) {
        var letters = argument.dropFirst()
        guard !letters.isEmpty else { throw CurlValueError.unknown.naming(argument) }
        do throws(CurlError) {
            while let letter = letters.popFirst(), line.answer == nil {
                guard let option = CurlOptionTable.lettered(letter) else { throw CurlValueError.unknown }
                guard option.takesText else {
                    try apply(option, "", isOn: true, &line)
                    continue
                }
                // The rest of the word, or the next argument.
                var text = letters.isEmpty ? rest.popFirst() : String(letters)
                if letter == "h", text == nil { text = "" }
                guard let text else { throw CurlValueError.missing }
                letters = ""
                try apply(option, text, isOn: true, &line)
            }
        } catch {
            throw error.naming(argument)
        }
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
        case .real:
            // ALPN is used unless it is turned off.
            guard isOn != (option.name == "alpn") else { return }
            line.needsReal(isOn ? "--\(option.name)" : "--no-\(option.name)")
        }
    }

    private static func finish(_ line: inout CurlCommandLine, _ arguments: [String]) throws(CurlError) {
        let hasURL = line.operation.targets.contains { $0.url != nil }
        if !hasURL, line.invocation.operations.isEmpty, line.realOption == nil {
            if arguments.isEmpty { throw CurlError(exitCode: 2, message: "", form: .usage) }
            throw CurlError(exitCode: 2, message: "(2) no URL specified", form: .usage)
        }
        try line.finishOperation()
    }
}

extension CurlError {
    /// The error of an option's value, with the option's name.
    func naming(_ option: String) -> CurlError {
        guard form == .option else { return self }
        var error = CurlError(
            exitCode: exitCode, message: "option \(option): \(message)", form: .usage, warnings: warnings)
        error.reasons = reasons
        return error
    }
}

extension CurlValueError {
    static let unknown = CurlError(exitCode: 2, message: "is unknown", form: .option)
    static let missing = CurlError(exitCode: 2, message: "requires parameter", form: .option)
    static let irreversible = CurlError(
        exitCode: 2, message: "the given option cannot be reversed with a --no- prefix", form: .option)
}
