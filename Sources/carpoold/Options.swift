internal import CarpoolServer

/// The command line of the daemon.
struct Options {
    /// What it is asked to do.
    enum Task {
        /// Serve, in the foreground.
        case serve
        /// Print the OpenRPC document, the page of the manual, the version or the help, and end.
        case openRPC
        case manual
        case version
        case help
    }

    var task = Task.serve
    var socket: String?
    var configuration: String?
    var idleExitMilliseconds: Int?
    var logLevel: Log.Level?
    /// Whether it has the methods of the JSON-RPC specification's examples instead of its own.
    var servesTestCatalogue = false
    /// Leaves the process open to debuggers, and to core dumps.
    var isDumpable = false

    /// Why a command line is refused.
    struct Failure: Error {
        let description: String
    }

    /// Reads the arguments after the program's name.
    init(_ arguments: [String]) throws(Failure) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard let option = DaemonOption.named(argument) else {
                throw Failure(description: "unknown option \(argument); carpoold --help lists them")
            }
            try option.read(&self, option.name, &rest)
        }
    }

    /// The value of an option, off the front of the rest.
    static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Failure) -> String {
        guard let value = rest.popFirst(), !value.isEmpty else { throw Failure(description: "\(option) needs a value") }
        return value
    }

    /// A value that is a number of milliseconds.
    static func number(of option: String, _ rest: inout ArraySlice<String>) throws(Failure) -> Int {
        let text = try value(of: option, &rest)
        guard let number = Int(text), (0...2_592_000_000).contains(number) else {
            throw Failure(description: "\(option) needs a number of milliseconds, not \(text)")
        }
        return number
    }

    /// A value that is a level of the log.
    static func level(of option: String, _ rest: inout ArraySlice<String>) throws(Failure) -> Log.Level {
        let text = try value(of: option, &rest)
        guard let level = Log.Level(rawValue: text) else {
            throw Failure(description: "\(option) needs error, warning, info or debug, not \(text)")
        }
        return level
    }
}
