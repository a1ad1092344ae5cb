internal import CarpoolServer

/// An option of the daemon: what the help, the manual and the parser know of it.
struct DaemonOption: Sendable {
    /// How it changes the options; takes its value off the front of the arguments, if it has one.
    typealias Reading =
        @Sendable (inout Options, _ name: String, _ rest: inout ArraySlice<String>) throws(Options.Failure) -> Void

    /// The name with its hyphens.
    let name: String
    /// Another name.
    let alias: String?
    /// The placeholder of the value; `nil` for an option without a value.
    let placeholder: String?
    /// One line of the help.
    let summary: String
    let read: Reading

    private init(
        _ name: String, alias: String? = nil, takes placeholder: String? = nil, _ summary: String,
        _ read: @escaping Reading
    ) {
        (self.name, self.alias, self.placeholder, self.summary) = (name, alias, placeholder, summary)
        self.read = read
    }

    /// An option that is named alone in a line of the usage, and has the daemon print something and end.
    private static func task(
        _ name: String, alias: String? = nil, _ summary: String, _ task: Options.Task
    ) -> DaemonOption {
        DaemonOption(name, alias: alias, summary) { (options, _, _) throws(Options.Failure) in options.task = task }
    }

    /// Those of a daemon that serves.
    static let serving = [
        DaemonOption("--socket", takes: "PATH", "serve this socket instead of the user's own; its lock is PATH.lock") {
            (options, name, rest) throws(Options.Failure) in options.socket = try Options.value(of: name, &rest)
        },
        DaemonOption(
            "--config", takes: "FILE", "read this configuration instead of $XDG_CONFIG_HOME/carpool/config.json"
        ) { (options, name, rest) throws(Options.Failure) in options.configuration = try Options.value(of: name, &rest)
        },
        DaemonOption(
            "--idle-exit-ms", takes: "N",
            "end after N ms without connection, work or lease, however it was started; 0: never"
        ) { (options, name, rest) throws(Options.Failure) in
            options.idleExitMilliseconds = try Options.number(of: name, &rest)
        },
        DaemonOption("--log-level", takes: "LEVEL", "error, warning, info or debug; wins over the configuration") {
            (options, name, rest) throws(Options.Failure) in options.logLevel = try Options.level(of: name, &rest)
        },
        DaemonOption(
            "--dumpable",
            "let debuggers of the same user attach, and the kernel write core dumps, which hold secrets"
        ) { (options, _, _) throws(Options.Failure) in options.isDumpable = true },
    ]

    /// Those that print something and end.
    static let printing = [
        DaemonOption.task("--openrpc", "print the description of all methods and end", .openRPC),
        .task("--man", "print the page carpoold(8) of the manual, in roff, and end", .manual),
        .task("--version", "print the version and that of libcurl, and end", .version),
        .task("--help", alias: "-h", "print this help and end", .help),
    ]

    /// Registers the methods of the JSON-RPC specification's examples instead of the daemon's own; for the tests of the
    /// protocol. The help does not list it.
    static let testCatalogue = DaemonOption("--test-catalogue", "") { (options, _, _) throws(Options.Failure) in
        options.servesTestCatalogue = true
    }

    /// The option of a name, or `nil` if there is none.
    static func named(_ name: String) -> DaemonOption? {
        (serving + printing + [testCatalogue]).first { $0.name == name || $0.alias == name }
    }

    /// The name and the placeholder.
    var usage: String { placeholder.map { "\(name) \($0)" } ?? name }
}
