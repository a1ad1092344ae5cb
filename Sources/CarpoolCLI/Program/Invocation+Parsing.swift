internal import CarpoolCaller
internal import CarpoolCurl

extension Invocation {
    /// Parses the arguments after the program's name.
    static func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        var scanner = ArgumentScanner(arguments, isOfCurl: CurlOptionTable.has) { CommandList.all }
        var socket: String?
        // The options before the name of the command.
        while let argument = try scanner.next({ [.socket, .help, .version] }, in: nil) {
            switch argument {
            case .option(0, let value): socket = try SocketArguments.path(value)
            case .option(1, _): return Invocation(HelpCommand.self, HelpCommand.arguments)
            case .option: return Invocation(VersionCommand.self, VersionCommand.arguments)
            case .operand(let name):
                let command = try CommandList.find(name)
                return try command.parse(&scanner, socket: socket)
                    ?? Invocation(HelpCommand.self, HelpCommand.Arguments(topic: command.name))
            }
        }
        throw UsageError("a command is required; see carpool help")
    }
}
