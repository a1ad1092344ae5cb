internal import CarpoolCaller
internal import CarpoolSystem

/// `carpool version`
enum VersionCommand: Command {
    static let name = "version"
    static let synopsis = ""
    static let summary = "print the version"

    static var examples: [String] { ["carpool version"] }

    static var options: [Option<SocketArguments>] { [.help] }

    static var arguments: SocketArguments { SocketArguments() }

    /// Takes any arguments and ignores them.
    static func parse(_ scanner: inout ArgumentScanner, socket: String?) throws(UsageError) -> Invocation? {
        Invocation(VersionCommand.self, arguments)
    }

    static func run(_ arguments: SocketArguments) throws(Failure) -> ExitCode {
        try Terminal.print("carpool \(Release.version)\n")
        return .success
    }
}
