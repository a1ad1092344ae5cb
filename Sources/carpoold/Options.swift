internal import CarpoolServer

/// The command line of the daemon.
struct Options {
    /// What it is asked to do.
    enum Task {
        /// Serve, in the foreground.
        case serve
        /// Print the OpenRPC document, the version or the help, and end.
        case openRPC
        case version
        case help
    }

    var task = Task.serve
    var socket: String?
    var configuration: String?
    var idleExitMilliseconds: Int?
    var logLevel: Log.Level?
    /// Registers the methods of the JSON-RPC specification's examples instead of the daemon's own; for the tests of the
    /// protocol.
    var servesTestCatalogue = false
    /// Leaves the process open to debuggers, and to core dumps.
    var isDumpable = false

    /// Why a command line is refused.
    struct Failure: Error {
        let description: String
    }

    static let help = """
        usage: carpoold [--socket PATH] [--config FILE] [--idle-exit-ms N] [--log-level LEVEL] [--dumpable]
               carpoold --openrpc | --version | --help

          --socket PATH      serve this socket instead of the user's own; its lock is PATH.lock
          --config FILE      read this configuration instead of $XDG_CONFIG_HOME/carpool/config.json
          --idle-exit-ms N   end after N ms without connection, work or lease, however it was started; 0: never
          --log-level LEVEL  error, warning, info or debug; wins over the configuration
          --dumpable         let debuggers of the same user attach, and the kernel write core dumps, which hold secrets
          --openrpc          print the description of all methods and end

        Signals: SIGTERM and SIGINT finish running requests and exit, a second one exits at once; SIGHUP loads the configuration again.
        Exit status: 0 ended as asked, 1 cannot serve, 2 wrong usage.

        """

    /// Reads the arguments after the program's name.
    init(_ arguments: [String]) throws(Failure) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--openrpc": task = .openRPC
            case "--version": task = .version
            case "--help", "-h": task = .help
            case "--test-catalogue": servesTestCatalogue = true
            case "--dumpable": isDumpable = true
            case "--socket": socket = try Options.value(of: argument, &rest)
            case "--config": configuration = try Options.value(of: argument, &rest)
            case "--idle-exit-ms": idleExitMilliseconds = try Options.number(of: argument, &rest)
            case "--log-level": logLevel = try Options.level(of: argument, &rest)
            default: throw Failure(description: "unknown option \(argument); carpoold --help lists them")
            }
        }
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Failure) -> String {
        guard let value = rest.popFirst(), !value.isEmpty else { throw Failure(description: "\(option) needs a value") }
        return value
    }

    private static func number(of option: String, _ rest: inout ArraySlice<String>) throws(Failure) -> Int {
        let text = try value(of: option, &rest)
        guard let number = Int(text), (0...2_592_000_000).contains(number) else {
            throw Failure(description: "\(option) needs a number of milliseconds, not \(text)")
        }
        return number
    }

    private static func level(of option: String, _ rest: inout ArraySlice<String>) throws(Failure) -> Log.Level {
        let text = try value(of: option, &rest)
        guard let level = Log.Level(rawValue: text) else {
            throw Failure(description: "\(option) needs error, warning, info or debug, not \(text)")
        }
        return level
    }
}
