/// A command of `carpool`: its name, its help, its options, and what it does. Each is one file in `Commands/`, and `CommandList` lists them.
protocol Command: SendableMetatype {
    /// What the command line gives it.
    associatedtype Arguments: CommandArguments

    /// The name on the command line.
    static var name: String { get }
    /// The usage line after the name.
    static var synopsis: String { get }
    /// One line for the list of commands.
    static var summary: String { get }
    /// What the help says besides the options; may be empty.
    static var details: String { get }
    /// Command lines to copy.
    static var examples: [String] { get }
    /// The options, in the order of the help.
    static var options: [Option<Arguments>] { get }
    /// The arguments of a command line without any.
    static var arguments: Arguments { get }

    /// Takes an argument that is no option.
    static func add(_ operand: String, to arguments: inout Arguments) throws(UsageError)
    /// Checks what only the whole command line shows.
    static func validate(_ arguments: Arguments) throws(UsageError)
    /// Reads the arguments after the name; returns `nil` if they ask for the help. A requirement, so that the default is compiled for each
    /// command: generic code would look up its types at run time, which takes as long as the rest of the parsing.
    static func parse(_ scanner: inout ArgumentScanner, socket: String?) throws(UsageError) -> Invocation?
    /// Does what the command is for.
    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode
}

/// The arguments of a command.
protocol CommandArguments: Equatable {
    /// The path of the daemon's socket; `nil` for the user's own.
    var socket: String? { get set }
}

extension Command {
    static var details: String { "" }

    /// How its options are written.
    static var specifications: [OptionSpecification] { options.map(\.specification) }

    static func add(_ operand: String, to arguments: inout Arguments) throws(UsageError) {
        throw UsageError("\(name) takes no '\(operand)'")
    }

    static func validate(_ arguments: Arguments) throws(UsageError) {}

    static func parse(_ scanner: inout ArgumentScanner, socket: String?) throws(UsageError) -> Invocation? {
        do throws(UsageError) {
            var arguments = arguments
            arguments.socket = socket
            let options = options
            let specifications = options.map(\.specification)
            while let argument = try scanner.next(specifications, in: name) {
                switch argument {
                case .operand(let word): try add(word, to: &arguments)
                case .option(let index, let value):
                    guard let apply = options[index].apply else { return nil }
                    try apply(&arguments, value)
                }
            }
            try validate(arguments)
            return Invocation(Self.self, arguments)
        } catch {
            throw UsageError(error.message, in: name)
        }
    }
}
