internal import CarpoolJSON

/// The arguments one after the other, told apart into options and operands as the GNU tools do: options may follow operands, short ones may
/// stand together, a value follows or is joined, and `--` ends the options.
struct ArgumentScanner {
    enum Argument: Equatable {
        case option(Option, value: String)
        case operand(String)
    }

    private var arguments: ArraySlice<String>
    /// What is left of a word of short options.
    private var cluster: Substring = ""
    private var isPastOptions = false

    init(_ arguments: [String]) { self.arguments = arguments[...] }

    /// What has not been looked at yet.
    var rest: [String] { Array(arguments) }

    /// The next argument, if it is one of these options or an operand.
    mutating func next(_ options: [Option], in command: Command?) throws(UsageError) -> Argument? {
        if let letter = cluster.popFirst() {
            return try short(letter, options, command)
        }
        guard let word = arguments.popFirst() else { return nil }
        if isPastOptions || !word.hasPrefix("-") || word == "-" { return .operand(word) }
        if word == "--" {
            isPastOptions = true
            return try next(options, in: command)
        }
        if word.hasPrefix("--") { return try long(word, options, command) }
        cluster = word.dropFirst()
        return try next(options, in: command)
    }

    private mutating func short(
        _ letter: Character, _ options: [Option], _ command: Command?
    ) throws(UsageError) -> Argument {
        guard let option = options.first(where: { $0.specification.short == letter }) else {
            throw ArgumentScanner.unknown("-\(letter)", options, command)
        }
        guard option.specification.placeholder != nil else { return .option(option, value: "") }
        guard cluster.isEmpty else {
            defer { cluster = "" }
            return .option(option, value: String(cluster))
        }
        return .option(option, value: try value(of: "-\(letter)", option, command))
    }

    private mutating func long(
        _ word: String, _ options: [Option], _ command: Command?
    ) throws(UsageError) -> Argument {
        let equals = word.firstIndex(of: "=")
        let name = equals.map { String(word[..<$0]) } ?? word
        guard let option = options.first(where: { $0.specification.long == name }) else {
            throw ArgumentScanner.unknown(name, options, command)
        }
        guard let equals else {
            let takesValue = option.specification.placeholder != nil
            return .option(option, value: takesValue ? try value(of: name, option, command) : "")
        }
        guard option.specification.placeholder != nil else {
            throw UsageError("\(name) takes no value", in: command)
        }
        return .option(option, value: String(word[word.index(after: equals)...]))
    }

    private mutating func value(of name: String, _ option: Option, _ command: Command?) throws(UsageError) -> String {
        guard let value = arguments.popFirst() else {
            throw UsageError("\(name) needs a value: \(option.specification.placeholder ?? "")", in: command)
        }
        return value
    }

    private static func unknown(_ name: String, _ options: [Option], _ command: Command?) -> UsageError {
        let known = Option.allCases.first { option in
            name == option.specification.long || name == option.specification.short.map { "-\($0)" }
        }
        if let known, let command {
            let others = Command.allCases.filter { $0.options.contains(known) }.map(\.rawValue)
            return UsageError("\(command.rawValue) has no \(name); \(others.joined(separator: ", ")) do", in: command)
        }
        let near = NearestName.find(name, among: options.map(\.specification.long))
        let suggestion = near.map { "; did you mean \($0)?" } ?? ""
        return UsageError("unknown option \(name)\(suggestion)", in: command)
    }
}
