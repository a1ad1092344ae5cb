internal import CarpoolCaller

/// The arguments of a command that takes only `--socket`.
struct SocketArguments: CommandArguments {
    var socket: String?

    /// Parses the value of `--socket`.
    static func path(_ text: String) throws(UsageError) -> String {
        guard !text.isEmpty else { throw UsageError("--socket needs a path") }
        return text
    }
}
