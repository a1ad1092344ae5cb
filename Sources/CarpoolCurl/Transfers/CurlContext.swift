internal import CarpoolSystem

/// What the transfers of a command line share.
final class CurlContext {
    let global: CurlGlobalOptions
    let environment: Environment
    let console: CurlConsole
    let cookies = CurlCookies()
    let daemons: CurlDaemons
    let sessions: CurlSessions
    let trace: CurlTrace
    /// The progress of `-Z`; `nil` if it is not shown.
    var parallelProgress: CurlParallelProgress?
    /// Whether calls are sent ahead.
    var lookAhead = CurlLookAhead()
    /// The files of `-D` and `--etag-save` that were written to, which later transfers add to.
    var headFiles: Set<String> = []
    private var connections: [Int] = []
    private var attempts = -1

    init(
        _ global: CurlGlobalOptions, _ environment: Environment, _ console: CurlConsole, _ daemons: CurlDaemons
    ) throws(CurlError) {
        self.global = global
        self.environment = environment
        self.console = console
        self.daemons = daemons
        sessions = CurlSessions(daemons)
        trace = try CurlTrace(global, console)
        if global.isParallel, !global.isSilent, !global.hidesProgress {
            parallelProgress = CurlParallelProgress(console)
        }
    }

    /// The number of the next attempt of a transfer, from 0.
    func nextAttempt() -> Int {
        attempts += 1
        return attempts
    }

    /// Whether a transfer of this command has used a connection of the daemon's before; notes it.
    func noteConnection(_ number: Int) -> Bool {
        let isKnown = knowsConnection(number)
        _ = connectionNumber(number)
        return isKnown
    }

    /// Whether a transfer of this command has used a connection of the daemon's before.
    func knowsConnection(_ number: Int) -> Bool { connections.contains(number) }

    /// The number of a connection in this command, from 0, for the daemon's number; -1 for none.
    func connectionNumber(_ number: Int) -> Int {
        guard number >= 0 else { return -1 }
        if let index = connections.firstIndex(of: number) { return index }
        connections.append(number)
        return connections.count - 1
    }
}
