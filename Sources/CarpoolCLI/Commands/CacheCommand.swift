internal import CarpoolCaller
internal import CarpoolJSON

/// `carpool cache ls | get | why | purge | stats`
enum CacheCommand: Command {
    static let name = "cache"
    static let synopsis = "[OPTIONS] ls [URL-PREFIX] | get URL | why URL | purge [URL] | stats"
    static let summary = "list, explain and remove stored responses"
    static let details = """
        ls       list the stored responses
        why      say what the cache would do with 'carpool get URL', and why; nothing is sent
        get      the same as JSON
        purge    remove the responses of URL, or those that --prefix, --origin, --older-than or --all select
        stats    print sizes and counters of the stores, and the reasons for which servers were asked

        Without --session and --store, get and why are about the session 'default', the others about all stores.
        """

    static var examples: [String] {
        [
            "carpool cache ls https://example.com/", "carpool cache why https://example.com/",
            "carpool cache purge --origin https://example.com", "carpool cache purge --older-than 7d --soft",
            "carpool cache stats",
        ]
    }

    static var operandWords: [String] { CacheArguments.Action.allCases.map(\.rawValue) }

    static var options: [Option<CacheArguments>] {
        [
            Option("--session", takesNonEmpty: "NAME", "the store of this session") { $0.session = $1 },
            Option("--store", takesNonEmpty: "NAME", "the store of this name, which sessions share") { $0.store = $1 },
            Option("--origin", takesNonEmpty: "URL", "the responses of this scheme, host and port") { $0.origin = $1 },
            Option("--prefix", takesNonEmpty: "PREFIX", "purge: the responses whose URL begins with PREFIX") {
                $0.prefix = $1
            },
            Option(
                "--older-than", takes: "SPAN", "purge: those stored longer ago, such as 90s, 10m, 2h or 7d",
                read: { text throws(UsageError) in try TimeSpan.span(text, of: "--older-than") }
            ) { $0.olderThanMilliseconds = $1 },
            Option("--all", "purge: all responses") { $0.purgesAll = true },
            Option("--soft", "purge: mark them as stale, so that servers are asked whether they are valid") {
                $0.isSoft = true
            },
            Option("--header", short: "H", takes: "'NAME: VALUE'", "get and why: a field of the request") {
                (arguments, value) throws(UsageError) in try arguments.addField(value)
            },
            Option("--json", "print JSON; ls: a line for each response") { $0.isJSON = true },
            .socket, .help,
        ]
    }

    static var arguments: CacheArguments { CacheArguments() }

    static func add(_ operand: String, to arguments: inout CacheArguments) throws(UsageError) {
        try arguments.add(operand)
    }

    static func validate(_ arguments: CacheArguments) throws(UsageError) { try arguments.validate() }

    static func run(_ arguments: CacheArguments) throws(Failure) -> ExitCode {
        let daemon = try DaemonAccess(socket: arguments.socket)
        switch arguments.action {
        case .list: try list(arguments, daemon)
        case .get: try Terminal.printLine(try get(arguments.url ?? "", arguments, daemon))
        case .why: try explain(arguments, daemon)
        case .purge: try purge(arguments, daemon)
        case .stats: try printStatistics(arguments, daemon)
        case nil: break
        }
        return .success
    }

    /// Prints all pages: JSON as it comes, a table sorted by URL.
    private static func list(_ arguments: CacheArguments, _ daemon: DaemonAccess) throws(Failure) {
        var next: String?
        var lines: [(url: String, text: String)] = []
        repeat {
            let page = try daemon.call("cache.list") { arguments.write(to: &$0, next: next) }
            next = page["next"]?.string
            for index in 0..<(page["entries"]?.count ?? 0) {
                guard let entry = page["entries"]?[index: index] else { continue }
                if arguments.isJSON {
                    try Terminal.printLine(entry)
                } else {
                    lines.append((entry["url"]?.string ?? "", CacheReport.line(of: entry)))
                }
            }
        } while next != nil
        guard !arguments.isJSON else { return }
        guard !lines.isEmpty else { return try Terminal.print("no stored responses\n") }
        lines.sort { $0.url < $1.url }
        try Terminal.print(([CacheReport.heading] + lines.map(\.text)).map { "\($0)\n" }.joined())
    }

    private static func get(
        _ url: String, _ arguments: CacheArguments, _ daemon: DaemonAccess
    ) throws(Failure) -> JSON {
        try daemon.call("cache.get") { arguments.writeRequest(of: url, to: &$0) }
    }

    /// The maximum number of stored redirects that are followed.
    private static let mostHops = 16

    /// Explains the URL, and those that stored redirects lead to.
    private static func explain(_ arguments: CacheArguments, _ daemon: DaemonAccess) throws(Failure) {
        var url = arguments.url
        var seen: [String] = []
        while let current = url, seen.count < mostHops, !seen.contains(current) {
            seen.append(current)
            let answer = try get(current, arguments, daemon)
            try Terminal.print(CacheReport.explanation(of: answer, for: current).map { "\($0)\n" }.joined())
            url = answer["would"]?.isString("serve") == true ? answer["entry"]?["location"]?.string : nil
        }
    }

    private static func purge(_ arguments: CacheArguments, _ daemon: DaemonAccess) throws(Failure) {
        let answer = try daemon.call("cache.purge") { arguments.write(to: &$0) }
        guard !arguments.isJSON else { return try Terminal.printLine(answer) }
        try Terminal.print("\(CacheReport.purge(answer, isSoft: arguments.isSoft))\n")
    }

    private static func printStatistics(_ arguments: CacheArguments, _ daemon: DaemonAccess) throws(Failure) {
        let answer = try daemon.call("cache.stats") { arguments.write(to: &$0) }
        guard !arguments.isJSON else { return try Terminal.printLine(answer) }
        let stores = answer["stores"]
        let count = stores?.count ?? 0
        guard count > 0 else { return try Terminal.print("no stores\n") }
        for index in 0..<count {
            guard let store = stores?[index: index] else { continue }
            try Terminal.print(CacheReport.lines(of: store).map { "\($0)\n" }.joined())
        }
    }
}
