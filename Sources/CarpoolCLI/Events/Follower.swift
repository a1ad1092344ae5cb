internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// Follows a subscription until the timeout, a signal, or the loss of the reader of standard output.
final class Follower {
    /// The next item.
    enum Occurrence {
        /// The subscription was made, for the first time or again.
        case subscribed(JSON)
        case event(JSON)
        /// The connection was lost; the follower reconnects.
        case lost
        /// The caller's deadline was reached.
        case due
        /// The timeout of the command was reached.
        case timedOut
    }

    /// The size that a pipe accepts without blocking when poll(2) reports it writable (pipe(7), PIPE_BUF).
    private static let pieceBytes = 4_096

    /// The subscription.
    let feed: EventFeed
    private let interruption = Interruption()
    private let signals: FileDescriptor
    private let deadline: MonotonicTime

    /// Subscribes with a method; the closure writes its parameters, with the cursor to resume after.
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

    /// Waits for the next occurrence; throws the failure that ends the command.
    func next(before point: MonotonicTime = MonotonicTime(nanoseconds: .max)) throws(Failure) -> Occurrence {
        while true {
            switch try item(before: min(point, deadline)) {
            case .subscribed(let answer): return .subscribed(answer)
            case .event(let event): return .event(event)
            case .lost: return .lost
            case .nothing:
                if let signal = interruption.signal { throw .ended(by: signal) }
                let now = MonotonicTime.read()
                // Detects a closed pipe before the next event, which may take long.
                if now.waitForInput([], orLossOf: [STDOUT_FILENO]) != nil { throw .brokenPipe }
                if now >= deadline { return .timedOut }
                if now >= point { return .due }
            }
        }
    }

    /// Prints to standard output. A slow reader delays neither a signal nor the timeout.
    func print(_ bytes: [UInt8]) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let ready = deadline.waitForOutput(STDOUT_FILENO, or: [signals.raw])
            guard ready != nil else {
                throw Failure(.timedOut, "timed out while writing to standard output: its reader has stopped")
            }
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
