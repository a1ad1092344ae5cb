internal import CarpoolCaller

/// `carpool openrpc`
enum OpenRPCCommand: Command {
    static let name = "openrpc"
    static let synopsis = "[OPTIONS]"
    static let summary = "print the description of all methods (OpenRPC)"
    static let details = "The document is the result of the method rpc.discover of the running daemon."

    static var examples: [String] { ["carpool openrpc | jq '.methods[].name'"] }

    static var options: [Option<SocketArguments>] { [.socket, .help] }

    static var arguments: SocketArguments { SocketArguments() }

    static func run(_ arguments: SocketArguments) throws(Failure) -> ExitCode {
        try Terminal.printLine(try DaemonAccess(socket: arguments.socket).call("rpc.discover"))
        return .success
    }
}
