internal import CarpoolCaller

/// A command with its arguments.
struct Invocation {
    let command: any Command.Type
    let arguments: any CommandArguments
    /// Runs the command.
    let run: () throws(Failure) -> ExitCode

    init<C: Command>(_ command: C.Type, _ arguments: C.Arguments) {
        self.command = command
        self.arguments = arguments
        run = { () throws(Failure) in try command.run(arguments) }
    }
}
