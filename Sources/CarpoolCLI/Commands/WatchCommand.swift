internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem

/// `carpool watch`: events on standard output, one a line.
final class WatchCommand {
    private let watch: WatchInvocation
    private var state: CursorFile?
    private var printed = 0

    init(_ watch: WatchInvocation) {
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
