public import CarpoolSystem

/// How a daemon was started: its command line and its environment, decided before it begins.
public struct ServerOptions: Sendable {
    /// The socket that it serves.
    public var socketPath: String
    /// The configuration file, which need not exist.
    public var configurationPath: String
    /// The folder of large bodies; the daemon's own.
    public var spoolDirectory: String
    /// Where partial files of downloads are remembered over restarts; without it they are removed only when a download
    /// is resumed.
    public var partialsDirectory: String?
    /// Where persistent cookies of sessions are stored; without it they are not.
    public var cookiesDirectory: String?
    /// Where responses are stored; without it they are in memory alone.
    public var responsesDirectory: String?
    /// The directories that another user could replace, each with the one that is used instead.
    public var replacedDirectories: [(named: String, used: String)] = []
    /// Whether a client or the service manager started the daemon and will do so again, so that it may end when it is
    /// idle.
    public var isStartedOnDemand = false
    /// The time of ``ServerConfiguration/idleExitMilliseconds``, where the command line sets it.
    public var idleExitMilliseconds: Int?
    /// The log's level, where the command line sets it.
    public var logLevel: Log.Level?
    /// The service manager that is notified of the daemon's state.
    public var supervisor: Supervisor
    /// Whether the methods of the JSON-RPC specification's examples are served too; for tests of the protocol.
    public var servesSpecificationExamples = false

    /// Makes options from what every daemon needs.
    public init(
        socketPath: String, configurationPath: String, spoolDirectory: String, supervisor: Supervisor
    ) {
        self.socketPath = socketPath
        self.configurationPath = configurationPath
        self.spoolDirectory = spoolDirectory
        self.supervisor = supervisor
    }
}
