internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// Asks for the record of a request whose events have stopped, over a connection of its own: the first one carries the
/// call that waits.
final class ProgressQuery {
    private let lookup: RequestLookup
    private var hasFailed = false

    init(socket: String?) { lookup = RequestLookup(socket: socket) }

    /// Passes the record of its request to the meter, if the meter may be behind. After a failure it asks no more.
    func update(_ meter: inout ProgressMeter) {
        guard meter.isBehind, !hasFailed else { return }
        guard let record = lookup.record(of: meter.request) else {
            hasFailed = true
            return
        }
        meter.take(record: record)
    }

    /// Whether standard output takes nothing now: a pipe that is full.
    static var isOutputFull: Bool { MonotonicTime.read().waitForOutput(STDOUT_FILENO, or: []) == nil }
}
