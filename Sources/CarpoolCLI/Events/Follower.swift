internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// Follows the events of a subscription until the time is over, a signal comes or nobody reads our output any more.
final class Follower {
    /// What comes next.
    enum Occurrence {
        /// The subscription stands, for the first time or again.
        case begun(JSON)
        case event(JSON)
        /// The daemon has gone, and is waited for.
        case lost
        /// The caller's point of time has come.
        case due
        /// The time is over.
        case timedOut
    }

    /// What a pipe takes without waiting when poll(2) says that it takes something (pipe(7), PIPE_BUF).
    private static let pieceBytes = 4_096

    /// The subscription.
    let feed: EventFeed
    private let interruption = Interruption()
    private let signals: FileDescriptor
    private let deadline: MonotonicTime

    /// Subscribes by a method; the closure writes its parameters, given the cursor to go on from.
    init(
        socket: String?, timeoutMilliseconds: Int?, method: String, since cursor: String? = nil,
        params: @escaping (inout JSONWriter, String?) -> Void
    ) throws(Failure) {
        do throws(SystemError) {
            signals = try interruption.descriptor()
        } catch {
            throw Failure(.transferFailed, "cannot wait for signals: \(error)")
        }
        deadline =
            timeoutMilliseconds.map { MonotonicTime.read().advanced(milliseconds: $0) }
            ?? MonotonicTime(nanoseconds: .max)
        feed = EventFeed(
            DaemonFinder(location: SocketLocation.resolve(option: socket)), method: method, since: cursor,
            inputs: [signals.raw], outputs: [STDOUT_FILENO], params: params)
    }

    /// Waits for what comes next; throws what ends the command.
    func next(before point: MonotonicTime = MonotonicTime(nanoseconds: .max)) throws(Failure) -> Occurrence {
        while true {
            switch try item(before: min(point, deadline)) {
            case .begun(let answer): return .begun(answer)
            case .event(let event): return .event(event)
            case .lost: return .lost
            case .nothing:
                if let signal = interruption.signal { throw .ended(by: signal) }
                let now = MonotonicTime.read()
                // A pipe that nobody reads any more is found out before the next event, which may be long in coming.
                if now.waitForInput([], orLossOf: [STDOUT_FILENO]) != nil { throw .brokenPipe }
                if now >= deadline { return .timedOut }
                if now >= point { return .due }
            }
        }
    }

    /// Prints to standard output. A reader that does not read keeps neither a signal waiting nor the end of the time.
    func print(_ bytes: [UInt8]) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let ready = deadline.waitForOutput(STDOUT_FILENO, or: [signals.raw])
            guard ready != nil else { throw Failure(.timedOut, "nobody reads standard output") }
            if ready == signals.raw, let signal = interruption.signal { throw .ended(by: signal) }
            let piece = rest.prefix(Follower.pieceBytes)
            try Terminal.print(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
    }

    private func item(before point: MonotonicTime) throws(Failure) -> EventFeed.Item {
        do throws(ClientError) { return try feed.next(before: point) } catch { throw Failure(error) }
    }
}
