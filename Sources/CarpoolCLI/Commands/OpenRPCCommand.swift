internal import CarpoolJSON

/// `carpool openrpc`
struct OpenRPCCommand {
    let socket: String?

    func run() throws(Failure) -> ExitCode {
        try CallCommand.print(try DaemonAccess(socket: socket).call("rpc.discover"))
        return .success
    }
}
