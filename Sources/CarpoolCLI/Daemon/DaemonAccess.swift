internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The client library with the failures of this program.
struct DaemonAccess {
    private let client: Client

    /// Connects to the daemon of a socket, or to the user's own, which is started when none runs.
    init(socket: String?) throws(Failure) {
        try self.init(DaemonFinder(location: SocketLocation.resolve(option: socket)))
    }

    init(_ finder: DaemonFinder) throws(Failure) {
        do throws(ClientError) {
            client = try Client(finder)
        } catch {
            throw Failure(error)
        }
    }

    /// Whether it runs as the same user, and so can read and write what we can.
    var isOurs: Bool { client.daemonUID == geteuid() }

    func call(_ method: String, _ params: (inout JSONWriter) -> Void) throws(Failure) -> JSON {
        do throws(ClientError) {
            return try client.call(method, params)
        } catch {
            throw Failure(error)
        }
    }

    func call(_ method: String) throws(Failure) -> JSON {
        try call(method) { $0.raw(Array("{}".utf8)) }
    }

    /// Waits until the daemon has closed the connection.
    func waitForClose(milliseconds: Int) -> Bool { client.waitForClose(milliseconds: milliseconds) }
}
