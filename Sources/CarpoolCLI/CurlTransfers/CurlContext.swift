internal import CarpoolSystem

/// What the transfers of a command line share.
final class CurlContext {
    let global: CurlGlobalOptions
    let environment: Environment
    let console: CurlConsole
    let cookies = CurlCookies()
    let daemons: CurlDaemons
    let trace: CurlTrace
    /// The files of `-D` and `--etag-save` that were written to, which later transfers add to.
    var headFiles: Set<String> = []

    init(
        _ global: CurlGlobalOptions, _ environment: Environment, _ console: CurlConsole, _ daemons: CurlDaemons
    ) throws(CurlError) {
        self.global = global
        self.environment = environment
        self.console = console
        self.daemons = daemons
        trace = try CurlTrace(global, console)
    }
}
