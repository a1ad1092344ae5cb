internal import CarpoolServer
internal import CarpoolSystem
internal import Glibc

/// The daemon's program: reads the command line, prepares, serves on this thread until it is asked to end.
@main
struct Carpoold {
    nonisolated static func main() {
        DaemonEnvironment.enforce()
        Signal.ignoreMeaningless()
        let arguments: Options
        do throws(Options.Failure) {
            arguments = try Options(ProgramArguments.words())
        } catch {
            complain(error.description)
            exit(2)
        }
        switch arguments.task {
        case .help: say(DaemonHelp.text)
        case .manual: say(DaemonHelp.page)
        case .version: say("carpoold \(ServerVersion.text) (\(ServerVersion.library))\n")
        case .openRPC: say(ServerVersion.openRPC() + "\n")
        case .serve: exit(serve(arguments))
        }
    }

    /// Serves until the end. Returns the exit status.
    private nonisolated static func serve(_ arguments: Options) -> Int32 {
        let isSpawned = getenv(LaunchStatus.variable) != nil
        let status = LaunchStatus.takeFromEnvironment()
        if !arguments.isDumpable { ResourceLimits.keepMemoryPrivate() }
        guard access("/proc/self/fd", X_OK) == 0 else {
            complain("/proc is not mounted, and the daemon needs it to know its clients and their files")
            return 1
        }
        do throws(ServerError) {
            ResourceLimits.raiseOpenFiles()
            ResourceLimits.reserveOpenFiles()
            Heap.returnLargeMemory()
            let startup = try Startup.prepare(arguments, .takeFromEnvironment(), isSpawned: isSpawned)
            let loop = try makeLoop()
            let daemon = Daemon(loop: loop)
            do throws(ServerError) {
                try start(daemon, startup)
            } catch {
                startup.removeListener()
                throw error
            }
            status.reportReady()
            loop.run()
            let hasJobs = daemon.assumeIsolated { $0.close() }
            startup.removeSocket()
            if hasJobs { _exit(0) }
            return 0
        } catch {
            complain(error.description)
            status.reportFailure(error.description)
            return 1
        }
    }

    private nonisolated static func makeLoop() throws(ServerError) -> EventLoop {
        do throws(SystemError) { return try EventLoop() } catch { throw ServerError(error.description) }
    }

    /// This thread is the loop's, so that the daemon can be called before the loop runs.
    private nonisolated static func start(_ daemon: Daemon, _ startup: borrowing Startup) throws(ServerError) {
        let (options, configuration, listener) = (startup.options, startup.configuration, startup.listener)
        let failure: ServerError? = daemon.assumeIsolated { daemon in
            do throws(ServerError) {
                try daemon.start(options, configuration: configuration, listener: listener) { [loop = daemon.loop] in
                    loop.stop()
                }
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    private nonisolated static func say(_ text: String) { write(text, to: 1) }

    private nonisolated static func write(_ text: String, to fd: Int32) {
        var text = text
        text.withUTF8 { try? Bytes.writeAll(fd, UnsafeRawBufferPointer($0)) }
    }

    private nonisolated static func complain(_ text: String) { write("carpoold: \(text)\n", to: 2) }
}
