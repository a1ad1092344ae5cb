internal import CarpoolCaller
internal import CarpoolJSON

/// Splits the arguments into options and operands, as GNU getopt does: options may follow operands, short options may
/// be joined, a value is joined or follows, and `--` ends the options.
struct ArgumentScanner {
    enum Argument: Equatable {
        /// The option's index in the list, and its value; empty for an option without a value.
        case option(Int, value: String)
        case operand(String)
    }

    private var arguments: ArraySlice<String>
    /// The rest of a word of short options.
    private var cluster: Substring = ""
    private var isPastOptions = false

    /// All commands, for messages that say which command has an option.
    private let commands: () -> [any Command.Type]

    /// Whether `carpool curl` has an option of this name.
    private let isOfCurl: (String) -> Bool

    init(
        _ arguments: [String], isOfCurl: @escaping (String) -> Bool = { _ in false },
        commands: @escaping () -> [any Command.Type]
    ) {
        self.arguments = arguments[...]
        self.commands = commands
        self.isOfCurl = isOfCurl
    }

    /// The remaining arguments.
    var rest: [String] { Array(arguments) }

    /// Returns the next argument: one of these options, which are asked for only then, or an operand.
    mutating func next(_ options: () -> [OptionSpecification], in command: String?) throws(UsageError) -> Argument? {
        if let letter = cluster.popFirst() {
            return try short(letter, options(), command)
        }
        guard let word = arguments.popFirst() else { return nil }
        if isPastOptions || !word.hasPrefix("-") || word == "-" { return .operand(word) }
        if word == "--" {
            isPastOptions = true
            return try next(options, in: command)
        }
        if word.hasPrefix("--") { return try long(word, options(), command) }
        cluster = word.dropFirst()
        return try next(options, in: command)
    }

    private mutating func short(
        _ letter: Character, _ options: [OptionSpecification], _ command: String?
    ) throws(UsageError) -> Argument {
        guard let index = options.firstIndex(where: { $0.short == letter }) else {
            throw unknown("-\(letter)", options, command)
        }
        guard let placeholder = options[index].placeholder else { return .option(index, value: "") }
        guard cluster.isEmpty else {
            defer { cluster = "" }
            return .option(index, value: String(cluster))
        }
        return .option(index, value: try value(of: "-\(letter)", placeholder, command))
    }

    private mutating func long(
        _ word: String, _ options: [OptionSpecification], _ command: String?
    ) throws(UsageError) -> Argument {
        let equals = word.firstIndex(of: "=")
        let name = equals.map { String(word[..<$0]) } ?? word
        guard let index = options.firstIndex(where: { $0.long == name }) else {
            throw unknown(name, options, command)
        }
        guard let equals else {
            guard let placeholder = options[index].placeholder else { return .option(index, value: "") }
            return .option(index, value: try value(of: name, placeholder, command))
        }
        guard options[index].placeholder != nil else {
            throw UsageError("\(name) takes no value", in: command)
        }
        return .option(index, value: String(word[word.index(after: equals)...]))
    }

    private mutating func value(
        of name: String, _ placeholder: String, _ command: String?
    ) throws(UsageError) -> String {
        guard let value = arguments.popFirst() else {
            throw UsageError("\(name) needs a value: \(placeholder)", in: command)
        }
        return value
    }

    /// The error for an unknown option: names the commands that have it, or suggests a similar name.
    private func unknown(_ name: String, _ options: [OptionSpecification], _ command: String?) -> UsageError {
        if let reason = RefusedOption.reason(of: name) { return UsageError(reason, in: command) }
        // Commands that send no request have no options of curl.
        let sendsRequest = options.contains { $0.long == "--header" }
        if !sendsRequest, let own = ArgumentScanner.long(for: name, among: options) {
            return UsageError("unknown option \(name); did you mean \(own)?", in: command)
        }
        if let command, let known = specification(named: name) {
            let others = commands().filter { $0.specifications.contains(known) }.map { $0.name }
            return UsageError("\(command) has no \(name); \(others.joined(separator: ", ")) do", in: command)
        }
        if isOfCurl(name), sendsRequest || command == nil {
            return UsageError("\(name) is an option of carpool curl, which takes the command line of curl", in: command)
        }
        let near = NearestName.suggestion(for: name, among: options.map(\.long))
        return UsageError("unknown option \(name)\(near)", in: command)
    }

    /// The option without a short name that begins with the letter of an unknown short one.
    private static func long(for name: String, among options: [OptionSpecification]) -> String? {
        guard name.utf8.count == 2, let letter = name.last else { return nil }
        return options.first { $0.short == nil && $0.long.dropFirst(2).first == letter }?.long
    }

    private func specification(named name: String) -> OptionSpecification? {
        for command in commands() {
            for option in command.specifications where name == option.long || name == option.short.map({ "-\($0)" }) {
                return option
            }
        }
        return nil
    }
}
