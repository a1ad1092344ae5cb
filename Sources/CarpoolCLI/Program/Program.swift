internal import CarpoolCaller
internal import CarpoolCurl
internal import CarpoolSystem
internal import Glibc

/// The program `carpool`: reads the arguments, runs the command and ends with its exit code.
package enum Program {
    /// Runs the command line of this process.
    package static func main() -> Never {
        Terminal.claimDescriptors()
        do throws(Failure) {
            // The real curl takes arguments of any bytes.
            if ProcessArguments.areOfCurl, !ProcessArguments.areUTF8 {
                exit(CurlProgram.leave(ProcessArguments.wordsOfCurl, because: "an argument that is not UTF-8"))
            }
            let arguments = ProcessArguments.read()
            if ProcessArguments.isNamedCurl { exit(CurlProgram.run(arguments)) }
            exit(try run(arguments).rawValue)
        } catch {
            // Ends by SIGPIPE as other filters do; if the signal is ignored, with the exit code.
            guard let message = error.message else {
                if let signal = error.signal, signal != SIGPIPE { Interruption.end(by: signal) }
                raise(SIGPIPE)
                exit(error.code.rawValue)
            }
            Terminal.printError("carpool: \(message)")
            if let hint = error.hint { Terminal.printError("hint: \(hint)") }
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
        do throws(Failure) {
            return try invocation.run()
        } catch {
            // What is called by the names of the wire is advised by them.
            guard let hint = error.hint, invocation.command.name != CallCommand.name else { throw error }
            var failure = error
            failure.hint = CommandHint.text(hint)
            throw failure
        }
    }
}
