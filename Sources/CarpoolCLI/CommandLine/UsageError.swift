/// An error in the command line.
struct UsageError: Error, Equatable {
    /// A sentence without a full stop.
    let message: String
    /// The name of the command; `nil` if no command was recognised.
    let command: String?

    init(_ message: String, in command: String? = nil) {
        self.message = message
        self.command = command
    }
}
