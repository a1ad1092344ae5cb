/// The syntax and the meaning of an option.
struct OptionSpecification: Equatable {
    let long: String
    let short: Character?
    /// The placeholder of the value in the help; `nil` for an option without a value.
    let placeholder: String?
    let summary: String

    static let help = OptionSpecification(
        long: "--help", short: "h", placeholder: nil, summary: "print the help of the command")
    static let socket = OptionSpecification(
        long: "--socket", short: nil, placeholder: "PATH",
        summary: "the daemon's socket; no daemon is started there")
    static let version = OptionSpecification(
        long: "--version", short: "V", placeholder: nil, summary: "print the version")
}

/// An option of a command: its syntax, and how it changes the command's arguments.
struct Option<Arguments> {
    typealias Apply = (inout Arguments, String) throws(UsageError) -> Void

    let specification: OptionSpecification
    /// Applies the value, which is empty for an option without a value; `nil` for `--help`.
    let apply: Apply?

    /// An option without a value.
    init(_ long: String, short: Character? = nil, _ summary: String, set: @escaping (inout Arguments) -> Void) {
        self.init(long, short, nil, summary) { arguments, _ in set(&arguments) }
    }

    /// An option whose value is any text.
    init(
        _ long: String, short: Character? = nil, takes placeholder: String, _ summary: String,
        set: @escaping (inout Arguments, String) -> Void
    ) {
        self.init(long, short, placeholder, summary, set)
    }

    /// An option whose value is parsed.
    init<Value>(
        _ long: String, short: Character? = nil, takes placeholder: String, _ summary: String,
        read: @escaping (String) throws(UsageError) -> Value, set: @escaping (inout Arguments, Value) -> Void
    ) {
        self.init(long, short, placeholder, summary) { (arguments, text) throws(UsageError) in
            set(&arguments, try read(text))
        }
    }

    /// An option whose effect depends on the options before it.
    init(
        _ long: String, short: Character? = nil, takes placeholder: String? = nil, _ summary: String,
        apply: @escaping Apply
    ) {
        self.init(long, short, placeholder, summary, apply)
    }

    /// An option whose value cannot be empty: such a value is usually a variable that was not set.
    init(_ long: String, takesNonEmpty placeholder: String, _ summary: String, apply: @escaping Apply) {
        self.init(long, nil, placeholder, summary) { (arguments, value) throws(UsageError) in
            guard !value.isEmpty else { throw UsageError("the value of \(long) is empty: it takes \(placeholder)") }
            try apply(&arguments, value)
        }
    }

    private init(
        _ long: String, _ short: Character?, _ placeholder: String?, _ summary: String, _ apply: Apply?
    ) {
        self.init(OptionSpecification(long: long, short: short, placeholder: placeholder, summary: summary), apply)
    }

    fileprivate init(_ specification: OptionSpecification, _ apply: Apply?) {
        self.specification = specification
        self.apply = apply
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
