internal import CarpoolCaller
internal import CarpoolSystem

/// The syntax and the meaning of an option.
struct OptionSpecification: Equatable {
    let long: String
    let short: Character?
    /// The placeholder of the value in the help; `nil` for an option without a value.
    let placeholder: String?
    let summary: String

    /// Whether the value is the path of a file, or has one behind an `@`.
    func takesPath(_ value: String) -> Bool {
        switch placeholder {
        case "FILE", "FILE[:PASSWORD]", "DIR", "PINS": true
        case "PATH": long != OptionSpecification.socket.long
        case "DATA": value.hasPrefix("@") || long == "--cookie" && !value.contains("=")
        case "'NAME: VALUE'", "SECRET": value.hasPrefix("@")
        case "TEXT": long == "--write-out" && value.hasPrefix("@")
        case "'NAME=VALUE'": value.contains("=@")
        default: false
        }
    }

    static let help = OptionSpecification(
        long: "--help", short: "h", placeholder: nil, summary: "print the help of the command")
    static let socket = OptionSpecification(
        long: "--socket", short: nil, placeholder: "PATH",
        summary: "the daemon's socket; no daemon is started there")
    static let version = OptionSpecification(
        long: "--version", short: "V", placeholder: nil, summary: "print the version")
}

/// An option of a command: its syntax, and how it changes the command's arguments.
///
/// The effects are kept as they were given: a closure that wraps another one is allocated, for each option of a command
/// in each run.
struct Option<Arguments> {
    typealias Apply = (inout Arguments, String) throws(UsageError) -> Void

    private enum Effect {
        case help
        case set((inout Arguments) -> Void)
        case setText((inout Arguments, String) -> Void)
        case apply(Apply)
    }

    let specification: OptionSpecification
    private let effect: Effect
    /// Whether an empty value is refused.
    private let requiresText: Bool

    /// An option without a value.
    init(_ long: String, short: Character? = nil, _ summary: String, set: @escaping (inout Arguments) -> Void) {
        self.init(long, short, nil, summary, .set(set))
    }

    /// An option whose value is any text.
    init(
        _ long: String, short: Character? = nil, takes placeholder: String, _ summary: String,
        set: @escaping (inout Arguments, String) -> Void
    ) {
        self.init(long, short, placeholder, summary, .setText(set))
    }

    /// An option whose value is parsed.
    init<Value>(
        _ long: String, short: Character? = nil, takes placeholder: String, _ summary: String,
        read: @escaping (String) throws(UsageError) -> Value, set: @escaping (inout Arguments, Value) -> Void
    ) {
        let apply: Apply = { (arguments, text) throws(UsageError) in set(&arguments, try read(text)) }
        self.init(long, short, placeholder, summary, .apply(apply))
    }

    /// An option whose effect depends on the options before it.
    init(
        _ long: String, short: Character? = nil, takes placeholder: String? = nil, _ summary: String,
        apply: @escaping Apply
    ) {
        self.init(long, short, placeholder, summary, .apply(apply))
    }

    /// An option whose value cannot be empty: such a value is usually a variable that was not set.
    init(
        _ long: String, short: Character? = nil, takesNonEmpty placeholder: String, _ summary: String,
        apply: @escaping Apply
    ) {
        self.init(long, short, placeholder, summary, .apply(apply), requiresText: true)
    }

    private init(
        _ long: String, _ short: Character?, _ placeholder: String?, _ summary: String, _ effect: Effect,
        requiresText: Bool = false
    ) {
        specification = OptionSpecification(long: long, short: short, placeholder: placeholder, summary: summary)
        self.effect = effect
        self.requiresText = requiresText
    }

    fileprivate init(_ specification: OptionSpecification, _ apply: Apply?) {
        self.specification = specification
        effect = apply.map { .apply($0) } ?? .help
        requiresText = false
    }

    /// Applies the value, which is empty for an option without a value. Returns false for `--help`.
    func apply(_ value: String, to arguments: inout Arguments) throws(UsageError) -> Bool {
        if requiresText, value.isEmpty {
            let (long, placeholder) = (specification.long, specification.placeholder ?? "")
            throw UsageError("the value of \(long) is empty: it takes \(placeholder)")
        }
        var value = value
        if SystemPath.hasBytes(value), !specification.takesPath(value) {
            value = try PlainArgument.text(of: value, name: "the value of \(specification.long)")
        }
        switch effect {
        case .help: return false
        case .set(let set): set(&arguments)
        case .setText(let set): set(&arguments, value)
        case .apply(let apply): try apply(&arguments, value)
        }
        return true
    }

    /// `--help`
    static var help: Option { Option(.help, nil) }
}

extension Option where Arguments: CommandArguments {
    /// `--socket`
    static var socket: Option {
        Option(.socket) { (arguments, value) throws(UsageError) in
            arguments.socket = try SocketArguments.path(value)
        }
    }
}
