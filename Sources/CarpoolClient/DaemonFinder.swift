public import CarpoolSystem
internal import Glibc

/// Finds the daemon: at its expected socket, at the socket that the lock file names, or by starting it.
public struct DaemonFinder {
    /// The expected socket.
    public let location: SocketLocation
    private let launcher: () -> DaemonLauncher?

    /// The time in which a started daemon must serve, in milliseconds.
    static let startMilliseconds = 10_000
    /// The interval at which a daemon that another program started is polled, in microseconds.
    private static let pauseMicroseconds: UInt32 = 2_000

    /// A finder that starts a daemon if it has a launcher. The launcher is created only when no daemon runs, because
    /// creating it searches PATH.
    public init(location: SocketLocation, launcher: @autoclosure @escaping () -> DaemonLauncher?) {
        self.location = location
        self.launcher = launcher
    }

    /// The default: starts a daemon on demand, except at a socket that the caller named.
    public init(location: SocketLocation) {
        self.init(location: location, launcher: location.isExplicit ? nil : DaemonLauncher(location: location))
    }

    /// Connects to the running daemon, or starts one.
    func connect() throws(ClientError) -> FileDescriptor {
        if let socket = try connectIfRunning() { return socket }
        guard let launcher = launcher() else { throw notRunning() }
        return try start(launcher)
    }

    /// Connects to a running daemon; returns `nil` if none answers.
    private func connectIfRunning() throws(ClientError) -> FileDescriptor? {
        if let socket = try attempt(location.path) { return socket }
        // A daemon with another environment may use another socket; the path of the lock does not depend on it.
        guard case .held(let holder?) = lockState(), holder.socketPath != location.path else { return nil }
        return try attempt(holder.socketPath)
    }

    private func lockState() -> LockState {
        // An unreadable lock counts as free: the daemon reports the problem when it starts.
        (try? InstanceLock.state(at: location.lockPath)) ?? .free
    }

    private func attempt(_ path: String) throws(ClientError) -> FileDescriptor? {
        let socket: FileDescriptor
        do throws(SystemError) {
            socket = try UnixSocket.connect(to: path)
        } catch {
            if error.code == ENOENT || error.code == ECONNREFUSED || error.code == ENOTDIR { return nil }
            throw .unreachable(
                socketPath: path, reason: error.reason, hint: error.advice ?? DaemonFinder.hint(error.code))
        }
        try checkPeer(of: socket.raw, path)
        return socket
    }

    /// Requires that the daemon runs as this user or root: without a runtime directory others may create the socket.
    private func checkPeer(of socket: Int32, _ path: String) throws(ClientError) {
        guard !location.isExplicit, let peer = try? PeerCredentials(of: socket), peer.uid != 0, peer.uid != geteuid()
        else { return }
        throw .unreachable(
            socketPath: path, reason: "the socket is served by another user, uid \(peer.uid)",
            hint: "if you trust that daemon, name its socket with --socket")
    }

    private static func hint(_ code: Int32) -> String? {
        code == EACCES ? "the socket belongs to another user; only its owner and root may connect" : nil
    }

    private func notRunning() -> ClientError {
        if lockState() != .free {
            return .unreachable(
                socketPath: location.path,
                reason: "a daemon holds \(location.lockPath), but nothing listens at the socket",
                hint: "it is starting or exiting: try again")
        }
        let start = "carpool daemon start" + (location.isExplicit ? " --socket \(location.path)" : "")
        return .unreachable(
            socketPath: location.path, reason: "no daemon listens there",
            hint: location.isExplicit
                ? "a socket \(location.rule) is not started on demand; start the daemon with: \(start)" : start)
    }

    /// Starts a daemon. If several programs do so at once, one daemon gets the lock, and all connect to it.
    private func start(_ launcher: DaemonLauncher) throws(ClientError) -> FileDescriptor {
        let deadline = MonotonicTime.read().advanced(milliseconds: DaemonFinder.startMilliseconds)
        repeat {
            if lockState() == .free {
                if let reason = try launcher.launch(deadline: deadline), lockState() == .free {
                    throw .unreachable(
                        socketPath: location.path, reason: "carpoold did not start: \(reason)",
                        hint: launcher.hint)
                }
            } else {
                usleep(DaemonFinder.pauseMicroseconds)
            }
            if let socket = try connectIfRunning() { return socket }
        } while MonotonicTime.read() < deadline
        throw .unreachable(
            socketPath: location.path,
            reason: "a daemon holds \(location.lockPath) and did not answer within 10 s",
            hint: launcher.hint)
    }
}
