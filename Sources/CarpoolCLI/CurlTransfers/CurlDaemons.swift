internal import CarpoolClient
internal import CarpoolSystem

/// The connections to the daemon that transfers use in turn.
final class CurlDaemons {
    private let finder: DaemonFinder
    private var idle: [DaemonAccess] = []

    /// Connects to the daemon, which is started if none runs.
    init(socket: String?) throws(Failure) {
        finder = DaemonFinder(location: SocketLocation.resolve(option: socket))
        idle = [try DaemonAccess(finder)]
    }

    /// A connection without a call.
    func take() throws(Failure) -> DaemonAccess {
        if let daemon = idle.popLast() { return daemon }
        return try connect()
    }

    /// A new connection.
    func connect() throws(Failure) -> DaemonAccess { try DaemonAccess(finder) }

    /// Takes back a connection whose call was answered.
    func put(_ daemon: DaemonAccess) { idle.append(daemon) }
}
