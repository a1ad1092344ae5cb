internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem

/// Asks the daemon for records of requests, over a connection that is made with the first one.
final class RequestLookup {
    private let socket: String?
    private var daemon: DaemonAccess?

    /// - Parameter socket: the value of `--socket`.
    init(socket: String?) { self.socket = socket }

    /// The record of a request; `nil` if the daemon does not have it any more, or cannot be reached.
    func record(of request: String) -> JSON? {
        do throws(Failure) {
            let daemon = try connection()
            return try daemon.call("request.get") { writer in
                writer.beginObject()
                writer.member("request", request)
                writer.member("detail", static: "short")
                writer.endObject()
            }
        } catch {
            if error.refusal == nil { daemon = nil }
            return nil
        }
    }

    /// No daemon is started: a new one knows no request.
    private func connection() throws(Failure) -> DaemonAccess {
        if let daemon { return daemon }
        let made = try DaemonAccess(DaemonFinder(location: SocketLocation.resolve(option: socket), launcher: nil))
        daemon = made
        return made
    }
}
