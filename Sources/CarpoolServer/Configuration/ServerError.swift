/// Why the daemon does not start, or a configuration is refused: one line that names the place and the remedy.
public struct ServerError: Error, Sendable, CustomStringConvertible {
    /// The line.
    public let description: String

    /// Makes an error with its line.
    public init(_ description: String) { self.description = description }
}
