internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// Asks for the record of a request whose events have stopped, over a connection of its own: the first one carries the
/// call that waits.
final class ProgressQuery {
    private let socket: String?
    private var daemon: DaemonAccess?
    private var hasFailed = false

    init(socket: String?) { self.socket = socket }

    /// Passes the record of the request to the meter, if the meter may be behind. Asks no more after a failure.
    func update(_ meter: inout ProgressMeter) {
        guard meter.isBehind, !hasFailed else { return }
        guard let daemon = daemon ?? connect(), let record = record(of: meter.request, from: daemon) else {
            hasFailed = true
            return
        }
        self.daemon = daemon
        meter.take(running: record)
    }

    private func connect() -> DaemonAccess? {
        try? DaemonAccess(DaemonFinder(location: SocketLocation.resolve(option: socket), launcher: nil))
    }

    private func record(of request: String, from daemon: DaemonAccess) -> JSON? {
        try? daemon.call("request.get") { writer in
            writer.beginObject()
            writer.member("request", request)
            writer.member("detail", static: "short")
            writer.endObject()
        }
    }

    /// Whether standard output takes nothing now: a pipe that is full.
    static var isOutputFull: Bool { MonotonicTime.read().waitForOutput(STDOUT_FILENO, or: []) == nil }
}
