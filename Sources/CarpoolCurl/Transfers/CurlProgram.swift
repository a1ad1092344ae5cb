internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// `carpool curl`: carries out a command line of curl, or leaves it to the real one.
package struct CurlProgram {
    let arguments: [String]
    let socket: String?
    private let environment = Environment.process

    private init(_ arguments: [String], socket: String? = nil) {
        self.arguments = arguments
        self.socket = socket
    }

    // Functions of the type, because another target that released a value would look up its types at run time.

    /// Runs a command line; returns curl's exit code.
    package static func run(_ arguments: [String], socket: String? = nil) -> Int32 {
        CurlProgram(arguments, socket: socket).run()
    }

    /// Leaves a command line to the real curl, without reading it; returns curl's exit code if that is not possible.
    package static func leave(_ arguments: [String], because reason: String) -> Int32 {
        CurlProgram(arguments).leave(because: reason)
    }

    /// Runs the command; returns curl's exit code.
    private func run() -> Int32 {
        var line = CurlCommandLine(environment)
        do throws(CurlError) {
            try CurlArguments.read(arguments, into: &line)
            NamedPath.setLimit(milliseconds: line.invocation.operations.first?.connection.timeoutMilliseconds)
            let console = CurlConsole(line.invocation.global, environment)
            switch CurlDecision.of(line) {
            case .help(let category): return print(CurlHelp.text(category))
            case .version: return print(CurlHelp.version(Release.version, libraries: libraries()))
            case .real(let reason): return fallBack(line, "\(reason) needs the real curl")
            case .run(let invocation): return try run(invocation, line, console)
            }
        } catch {
            CurlConsole(line.invocation.global, environment).print(error)
            return error.exitCode
        }
    }

    /// The libraries with which the daemon sends requests, as libcurl names them; `nil` without a daemon.
    private func libraries() -> String? {
        let daemons = try? CurlDaemons(socket: socket)
        let answer = try? daemons?.call("daemon.info") { writer in
            writer.beginObject()
            writer.endObject()
        }
        return answer?["libcurl"]?["libraries"]?.string
    }

    /// Leaves the command line to the real curl, without reading it; returns curl's exit code if that is not possible.
    private func leave(because reason: String) -> Int32 {
        var line = CurlCommandLine(environment)
        line.invocation.global.forbidsFallback = arguments.contains("--no-fallback")
        return fallBack(line, "\(reason) needs the real curl")
    }

    private func print(_ text: String) -> Int32 {
        do throws(SystemError) {
            try BlockingOutput(borrowing: STDOUT_FILENO).write(Array(text.utf8))
            return 0
        } catch {
            return CurlExitCode.writeError
        }
    }

    private func run(
        _ invocation: CurlInvocation, _ line: CurlCommandLine, _ console: CurlConsole
    ) throws(CurlError) -> Int32 {
        let daemons: CurlDaemons
        do throws(Failure) {
            // Before standard input is read: without a daemon the real curl reads it.
            daemons = try CurlDaemons(socket: socket)
        } catch {
            return fallBack(line, error.message ?? "the daemon cannot be reached")
        }
        // After that: the real curl has the same warnings.
        console.warn(line.warnings)
        if !line.remarks.isEmpty { console.printReasons(line.remarks) }
        let secrets = CurlSecrets(console)
        secrets.hide(invocation)
        let complete = try secrets.complete(invocation)
        let context = try CurlContext(complete.global, environment, console, daemons)
        return try CurlTransfers(complete, context).run()
    }

    /// Runs the real curl; returns curl's exit code for what it does not support if that is not possible.
    private func fallBack(_ line: CurlCommandLine, _ reason: String) -> Int32 {
        let global = line.invocation.global
        let isQuiet = global.isSilent && !global.showsErrors
        let code = reason.contains("://") ? CurlExitCode.unsupportedProtocol : CurlExitCode.failedInitialization
        let fallback = CurlFallback(count: arguments.count, environment: environment)
        if global.forbidsFallback {
            Terminal.printError("carpool: \(reason), which --no-fallback forbids")
            return code
        }
        let paths = fallback.candidates()
        if paths.isEmpty { Terminal.printError("carpool: \(reason), and there is none on PATH") }
        for path in paths {
            if !isQuiet { Terminal.printError("carpool: \(reason): running \(path)") }
            fallback.run(path, line.consumed)
            Terminal.printError("carpool: cannot run \(path): \(SystemError.reason(of: errno))")
        }
        return code
    }
}
