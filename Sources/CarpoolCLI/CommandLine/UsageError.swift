/// A command line that cannot be understood: what is wrong with it, and which command's help tells more.
struct UsageError: Error, Equatable {
    /// A sentence without its full stop.
    let message: String
    /// The command whose help would have told; `nil` if no command was recognised.
    let command: Command?

    init(_ message: String, in command: Command? = nil) {
        self.message = message
        self.command = command
    }
}
