internal import CarpoolSystem
internal import Glibc

/// The program `carpool`: reads the arguments, runs the command and ends with its exit code.
package enum Program {
    /// Runs the command line of this process.
    package static func main() -> Never {
        Terminal.claimDescriptors()
        do throws(Failure) {
            exit(try run(try Arguments.read()).rawValue)
        } catch {
            // As other filters end; a caller that ignores the signal gets the exit code.
            guard let message = error.message else {
                if let signal = error.signal, signal != SIGPIPE { Interruption.end(by: signal) }
                raise(SIGPIPE)
                exit(error.code.rawValue)
            }
            Terminal.complain("carpool: \(message)")
            if let hint = error.hint { Terminal.complain("hint: \(hint)") }
            exit(error.code.rawValue)
        }
    }

    private static func run(_ arguments: [String]) throws(Failure) -> ExitCode {
        let invocation: Invocation
        do throws(UsageError) {
            invocation = try Invocation.parse(arguments)
        } catch {
            throw Failure(error)
        }
        switch invocation {
        case .request(let request): return try RequestCommand(request).run()
        case .call(let call): return try CallCommand(call).run()
        case .watch(let watch): return try WatchCommand(watch).run()
        case .reachability(let reachability): return try ReachabilityCommand(reachability).run()
        case .waitOnline(let wait): return try WaitOnlineCommand(wait).run()
        case .daemon(let action, let socket): return try DaemonCommand(action, socket: socket).run()
        case .doctor(let socket): return try DoctorCommand(socket: socket).run()
        case .openrpc(let socket): return try OpenRPCCommand(socket: socket).run()
        case .version: try Terminal.print("carpool \(Release.version)\n")
        case .help(let command): try Terminal.print(command.map(HelpText.of) ?? HelpText.overview)
        }
        return .success
    }
}
