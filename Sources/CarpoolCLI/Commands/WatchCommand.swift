internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem

/// `carpool watch`: prints events on standard output, one a line.
enum WatchCommand: Command {
    static let name = "watch"
    static let synopsis = "[OPTIONS] [TYPE]..."
    static let summary = "print what happens to all requests, while it happens"
    static let details = """
        Each event is a JSON object on a line of its own, as soon as it happens, whoever made the request.
        TYPE is a type of event or a pattern such as 'request.*'; without one, all are printed. When the daemon
        is restarted, the command waits for it, goes on from where it stopped, and says if it missed anything.
        """

    static var examples: [String] {
        [
            "carpool watch", "carpool watch --pretty 'request.did_finish' 'reachability.*'",
            "carpool watch --state ends.cursor request.did_finish | jq -r .request",
        ]
    }

    static var options: [Option<Arguments>] {
        [
            Option(
                "--scope", takes: "SCOPE", "whose events: all (the default), mine, or session:NAME", read: scope
            ) { $0.scope = $1 },
            Option("--since", takes: "CURSOR", "begin behind the event that has this cursor") { $0.cursor = $1 },
            Option("--state", takes: "FILE", "keep the cursor in FILE, and go on from there") { $0.stateFile = $1 },
            Option("--snapshot", "say first how things stand") { $0.wantsSnapshot = true },
            Option("--count", short: "n", takes: "N", "end after N events", read: count) { $0.count = $1 },
            Option(
                "--timeout", takes: "SECONDS", "give up after so long (decimals are fine)",
                read: TimeSpan.milliseconds
            ) { $0.timeoutMilliseconds = $1 },
            Option("--pretty", "print lines for people instead of JSON") { $0.isPretty = true },
            .socket, .help,
        ]
    }

    struct Arguments: CommandArguments {
        /// Types and patterns; empty for all.
        var types: [String] = []
        /// Whose events: `mine`, `all` or `session:NAME`.
        var scope = "all"
        /// The cursor of the event to continue after.
        var cursor: String?
        /// The file in which the cursor is kept.
        var stateFile: String?
        var wantsSnapshot = false
        /// The number of events after which it ends.
        var count: Int?
        var timeoutMilliseconds: Int?
        var isPretty = false
        var socket: String?
    }

    static var arguments: Arguments { Arguments() }

    static func add(_ operand: String, to arguments: inout Arguments) { arguments.types.append(operand) }

    static func validate(_ arguments: Arguments) throws(UsageError) {
        guard arguments.cursor == nil || arguments.stateFile == nil else {
            throw UsageError("--since and --state both say where to begin")
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

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode { try EventWatch(arguments).run() }
}

/// Prints the events of a subscription and keeps the cursor.
private final class EventWatch {
    private let watch: WatchCommand.Arguments
    private var state: CursorFile?
    private var printed = 0

    init(_ watch: WatchCommand.Arguments) {
        self.watch = watch
        state = watch.stateFile.map(CursorFile.init)
    }

    func run() throws(Failure) -> ExitCode {
        let since = try state?.read() ?? watch.cursor
        let follower = try follower(since: since)
        do throws(Failure) {
            let code = try follow(follower)
            try state?.save()
            return code
        } catch {
            // What has ended the command is more worth telling than that its state is a second old.
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
            if !watch.types.isEmpty { writer.member("types", watch.types) }
            writer.member("scope", watch.scope)
            writer.member("since", cursor)
            if watch.wantsSnapshot { writer.member("snapshot", true) }
            writer.endObject()
        }
    }

    private func follow(_ follower: Follower) throws(Failure) -> ExitCode {
        let output = EventOutput(follower, isPretty: watch.isPretty)
        while true {
            switch try follower.next(before: state?.due ?? MonotonicTime(nanoseconds: .max)) {
            case .begun(let answer): try begin(answer, follower.feed, output)
            case .event(let event):
                try take(event, follower.feed, output)
                if let count = watch.count, printed >= count { return .success }
            case .lost: Terminal.complain("carpool: the daemon has gone; waiting for it")
            case .due: try state?.save()
            case .timedOut: return watch.count == nil ? .success : .timedOut
            }
        }
    }

    /// A subscription stands. What was missed meanwhile is told as an event of ours, because that is what our readers read.
    private func begin(_ answer: JSON, _ feed: EventFeed, _ output: EventOutput) throws(Failure) {
        if answer["gap"]?.bool == true {
            Terminal.complain("carpool: events are missing: the daemon no longer has what came after the last one")
            let since = feed.cursor
            try output.write("gap", of: answer) { $0.member("since", since) }
        }
        if let snapshot = answer["snapshot"] {
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

    private func take(_ event: JSON, _ feed: EventFeed, _ output: EventOutput) throws(Failure) {
        // A bookmark only says how far we have read.
        if event["type"]?.isString("bookmark") != true {
            try output.write(event)
            printed &+= 1
            if event["type"]?.isString("lagged") == true {
                Terminal.complain("carpool: \(event["data"]?["dropped"]?.integer ?? 0) events were not read in time")
            }
        }
        try advance(to: event["cursor"], feed)
    }

    private func advance(to cursor: JSON?, _ feed: EventFeed) throws(Failure) {
        guard let cursor = cursor?.string else { return }
        feed.cursor = cursor
        state?.note(cursor)
        if let state, state.due <= MonotonicTime.read() { try self.state?.save() }
    }
}
