/// An error in the command line.
package struct UsageError: Error, Equatable {
    /// A sentence without a full stop.
    package let message: String
    /// The name of the command; `nil` if no command was recognised.
    package let command: String?

    package init(_ message: String, in command: String? = nil) {
        self.message = message
        self.command = command
    }
}
