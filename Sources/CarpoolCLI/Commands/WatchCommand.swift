internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// `carpool watch`: prints a line for each request that ends, or all events.
enum WatchCommand: Command {
    static let name = "watch"
    static let synopsis = "[OPTIONS] [TYPE]..."
    static let summary = "print a line for each request that ends, or all events"
    static let details = """
        For the requests of all programs: the time, the status, the method, the duration, the size of the body,
        whether the connection was new or reused or the response came from the cache, and the URL. On a terminal
        long lines are cut. With --events each event is printed at once, as a JSON object on one line. TYPE is an
        event type or a pattern such as 'request.*' (default: all), and implies --events. After a restart of the
        daemon the command reconnects, resumes after the last event, and reports missed events.
        """

    static var examples: [String] {
        [
            "carpool watch", "carpool watch --events --pretty",
            "carpool watch --state ends.cursor request.did_finish | jq -r .request",
        ]
    }

    static var options: [Option<Arguments>] {
        [
            Option("--events", "print all events instead of a line for each request") { $0.wantsEvents = true },
            Option(
                "--scope", takes: "SCOPE", "whose events: all (the default), mine, or session:NAME", read: scope
            ) { $0.scope = $1 },
            Option("--since", takes: "CURSOR", "start after the event with this cursor") { $0.cursor = $1 },
            Option("--state", takes: "FILE", "save the cursor in FILE, and resume after it") { $0.stateFile = $1 },
            Option("--snapshot", "print the current state first") { $0.wantsSnapshot = true },
            Option("--count", short: "n", takes: "N", "end after N lines", read: count) { $0.count = $1 },
            Option(
                "--timeout", takes: "TIME", "the timeout: seconds such as 2.5, or a span such as 500ms, 10s or 2m",
                read: TimeSpan.milliseconds
            ) { $0.timeoutMilliseconds = $1 },
            Option("--pretty", "print events in a form for people instead of JSON") { $0.isPretty = true },
            .socket, .help,
        ]
    }

    struct Arguments: CommandArguments {
        /// Types and patterns; empty for all.
        var types: [String] = []
        var wantsEvents = false
        /// Whose events: `mine`, `all` or `session:NAME`.
        var scope = "all"
        /// The cursor of the event to continue after.
        var cursor: String?
        /// The file in which the cursor is kept.
        var stateFile: String?
        var wantsSnapshot = false
        /// The number of lines after which it ends.
        var count: Int?
        var timeoutMilliseconds: Int?
        var isPretty = false
        var socket: String?

        /// Whether events are printed, and not a line for each request.
        var printsEvents: Bool { wantsEvents || isPretty || !types.isEmpty }
    }

    static var arguments: Arguments { Arguments() }

    static func add(_ operand: String, to arguments: inout Arguments) { arguments.types.append(operand) }

    static func validate(_ arguments: Arguments) throws(UsageError) {
        guard arguments.cursor == nil || arguments.stateFile == nil else {
            throw UsageError("--since and --state cannot be combined: both define where to begin")
        }
        guard arguments.stateFile != "" else { throw UsageError("--state needs the name of a file") }
    }

    private static func scope(_ text: String) throws(UsageError) -> String {
        guard text == "mine" || text == "all" || (text.hasPrefix("session:") && text.count > 8) else {
            throw UsageError("--scope takes mine, all or session:NAME, not '\(text)'")
        }
        return text
    }

    private static func count(_ text: String) throws(UsageError) -> Int {
        guard text.utf8.first != UInt8(ascii: "+"), let count = Int(text), count > 0 else {
            throw UsageError("--count takes a number above 0, not '\(text)'")
        }
        return count
    }

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        try Failure.naming { () throws(Failure) in try EventWatch(arguments).run() }
    }
}

/// Prints the events of a subscription, or a line for each request that ends, and saves the cursor.
private final class EventWatch {
    private let watch: WatchCommand.Arguments
    private var state: CursorFile?
    private var printed = 0
    /// The lines of requests; `nil` if events are printed.
    private var lines: RequestLines?
    /// Finds what the events do not have of a request that began before the first of them.
    private let lookup: RequestLookup

    init(_ watch: WatchCommand.Arguments) {
        self.watch = watch
        lookup = RequestLookup(socket: watch.socket)
        state = watch.stateFile.map(CursorFile.init)
        if !watch.printsEvents {
            lines = RequestLines(.process(), isColoured: Terminal.isTerminal && getenv("NO_COLOR") == nil)
        }
    }

    func run() throws(Failure) -> ExitCode {
        let since = try state?.read() ?? watch.cursor
        let follower = try follower(since: since)
        do throws(Failure) {
            let code = try follow(follower)
            try state?.save()
            return code
        } catch {
            // The original error matters more than a cursor that is a second old.
            try? state?.save()
            throw error
        }
    }

    private func follower(since cursor: String?) throws(Failure) -> Follower {
        try Follower(
            socket: watch.socket, timeoutMilliseconds: watch.timeoutMilliseconds, method: "events.subscribe",
            since: cursor
        ) { [watch] writer, cursor in
            writer.beginObject()
            let types = watch.printsEvents ? watch.types : RequestLines.types
            if !types.isEmpty { writer.member("types", types) }
            writer.member("scope", watch.scope)
            writer.member("since", cursor)
            if watch.wantsSnapshot { writer.member("snapshot", true) }
            writer.endObject()
        }
    }

    private func follow(_ follower: Follower) throws(Failure) -> ExitCode {
        let output = EventOutput(follower, isPretty: watch.isPretty)
        if let lines, Terminal.isTerminal { try output.line(lines.heading) }
        while true {
            switch try follower.next(before: state?.due ?? MonotonicTime(nanoseconds: .max)) {
            case .subscribed(let answer): try begin(answer, follower.feed, output)
            case .event(let event):
                try take(event, follower.feed, output)
                if let count = watch.count, printed >= count { return .success }
            case .lost: Terminal.printError("carpool: the connection to the daemon was lost; waiting for it")
            case .due: try state?.save()
            case .timedOut: return watch.count == nil ? .success : .timedOut
            }
        }
    }

    /// Handles the answer of a subscription. Missed events are reported as an event of type `gap`.
    private func begin(_ answer: JSON, _ feed: EventFeed, _ output: EventOutput) throws(Failure) {
        if answer["gap"]?.bool == true {
            Terminal.printError("carpool: events were lost: the journal no longer reaches back to the last cursor")
            let since = feed.cursor
            if lines == nil { try output.write("gap", of: answer) { $0.member("since", since) } }
        }
        if lines != nil {
            try beginLines(output)
        } else if let snapshot = answer["snapshot"] {
            try output.write("snapshot", of: answer) { writer in
                snapshot.forEachMember { name, value in
                    writer.key(name)
                    writer.value(value)
                }
            }
        }
        try advance(to: answer["cursor"], feed)
        try state?.save()
    }

    /// The requests that run already have lines too.
    private func beginLines(_ output: EventOutput) throws(Failure) {
        // A daemon that ends now is followed by the next subscription.
        guard let daemon = try? DaemonAccess(socket: watch.socket),
            var entries = try? RequestList(daemon).active(scope: watch.scope == "mine" ? "mine" : "all")
        else { return }
        if watch.scope.hasPrefix("session:") {
            entries.removeAll { $0["session"]?.string != String(watch.scope.dropFirst("session:".count)) }
        }
        for line in lines?.take(running: entries) ?? [] where watch.wantsSnapshot { try output.line(line) }
    }

    private func take(_ event: JSON, _ feed: EventFeed, _ output: EventOutput) throws(Failure) {
        // A bookmark only advances the cursor.
        if event["type"]?.isString("bookmark") != true {
            try print(event, output)
            if event["type"]?.isString("lagged") == true {
                Terminal.printError(
                    "carpool: \(event["data"]?["dropped"]?.integer ?? 0) events were dropped: they were not read fast enough"
                )
            }
        }
        try advance(to: event["cursor"], feed)
    }

    private func print(_ event: JSON, _ output: EventOutput) throws(Failure) {
        guard lines != nil else {
            printed += 1
            return try output.write(event)
        }
        lines?.columns = .process()
        if let name = lines?.unknown(in: event), let record = lookup.record(of: name) {
            lines?.take(record: record, of: name)
        }
        guard let line = lines?.take(event) else { return }
        printed += 1
        try output.line(line)
    }

    private func advance(to cursor: JSON?, _ feed: EventFeed) throws(Failure) {
        guard let cursor = cursor?.string else { return }
        feed.cursor = cursor
        state?.note(cursor)
        if let state, state.due <= MonotonicTime.read() { try self.state?.save() }
    }
}
