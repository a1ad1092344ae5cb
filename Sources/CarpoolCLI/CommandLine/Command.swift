internal import CarpoolCaller

/// A command of `carpool`: its name, help, options and action. Each command is one file in `Commands/`; `CommandList`
/// has all of them.
protocol Command: SendableMetatype {
    /// The arguments of the command line.
    associatedtype Arguments: CommandArguments

    /// The name on the command line.
    static var name: String { get }
    /// The usage line after the name.
    static var synopsis: String { get }
    /// One line for the list of commands.
    static var summary: String { get }
    /// The description in the help; may be empty.
    static var details: String { get }
    /// Example command lines.
    static var examples: [String] { get }
    /// The options, in the order of the help.
    static var options: [Option<Arguments>] { get }
    /// The default arguments.
    static var arguments: Arguments { get }

    /// The words that an operand can be, for completions; empty if it is a URL or another text.
    static var operandWords: [String] { get }

    /// Whether an operand is the name of a running request, for completions.
    static var takesRequests: Bool { get }

    /// Adds an operand.
    static func add(_ operand: String, to arguments: inout Arguments) throws(UsageError)
    /// Checks the arguments as a whole.
    static func validate(_ arguments: Arguments) throws(UsageError)
    /// Parses the arguments after the name; returns `nil` for `--help`. A requirement, so that the compiler specializes
    /// the default for each command: unspecialized code looks up types at run time, which doubles the time of parsing.
    static func parse(_ scanner: inout ArgumentScanner, socket: String?) throws(UsageError) -> Invocation?
    /// Runs the command.
    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode
}

/// The arguments of a command.
protocol CommandArguments: Equatable {
    /// The path of the daemon's socket; `nil` for the user's own.
    var socket: String? { get set }
}

extension Command {
    static var details: String { "" }
    static var operandWords: [String] { [] }
    static var takesRequests: Bool { false }

    /// The syntax of its options.
    static var specifications: [OptionSpecification] { options.map(\.specification) }

    static func add(_ operand: String, to arguments: inout Arguments) throws(UsageError) {
        throw UsageError("\(name) takes no '\(operand)'")
    }

    static func validate(_ arguments: Arguments) throws(UsageError) {}

    static func parse(_ scanner: inout ArgumentScanner, socket: String?) throws(UsageError) -> Invocation? {
        do throws(UsageError) {
            var arguments = arguments
            // An assignment of `nil` would look up the type of the former value at run time.
            if let socket { arguments.socket = socket }
            // Made with the first option: to make those of a request takes as long as to send it.
            var options: [Option<Arguments>] = []
            var specifications: [OptionSpecification] = []
            func known() -> [OptionSpecification] {
                guard options.isEmpty else { return specifications }
                options = self.options
                specifications = options.map(\.specification)
                return specifications
            }
            while let argument = try scanner.next(known, in: name) {
                switch argument {
                case .operand(let word):
                    let text = try PlainArgument.text(of: word, name: "an argument of \(name)")
                    try add(text, to: &arguments)
                case .option(let index, let value):
                    guard try options[index].apply(value, to: &arguments) else { return nil }
                }
            }
            try validate(arguments)
            return Invocation(Self.self, arguments)
        } catch {
            throw UsageError(error.message, in: name)
        }
    }
}
