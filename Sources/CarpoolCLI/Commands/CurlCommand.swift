internal import CarpoolCaller
internal import CarpoolCurl
internal import Glibc

/// `carpool curl`: takes the command line of curl.
enum CurlCommand: Command {
    static let name = "curl"
    static let synopsis = "[OPTIONS] URL..."
    static let summary = "take the command line of curl, with its output and exit codes"
    static let details = """
        All arguments are curl's (8.14.1). 'carpool curl --help all' lists the options. What the daemon cannot
        do (other protocols, HTTP/3, NTLM ...) runs the curl on PATH with the same arguments, and a line on
        standard error says so; --no-fallback makes that an error. A link to carpool whose name is curl does
        the same.
        """

    static var examples: [String] {
        [
            "carpool curl -fsSL https://example.com/install.sh",
            "carpool curl -o /dev/null -s -w '%{http_code}\\n' https://example.com/",
            "carpool curl -d name=value -H 'X-Token: x' https://example.com/form",
        ]
    }

    static var options: [Option<Arguments>] { [.help] }

    struct Arguments: CommandArguments {
        var words: [String] = []
        var socket: String?
    }

    static var arguments: Arguments { Arguments() }

    /// Takes all arguments as they are.
    static func parse(_ scanner: inout ArgumentScanner, socket: String?) throws(UsageError) -> Invocation? {
        Invocation(self, Arguments(words: scanner.rest, socket: socket))
    }

    /// Ends the process with curl's exit code.
    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        exit(CurlProgram.run(arguments.words, socket: arguments.socket))
    }
}
