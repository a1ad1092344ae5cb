public import CarpoolSystem
internal import Glibc

/// The way to the daemon: where its socket should be, where the lock says it is, and how it is started if it is nowhere.
public struct DaemonFinder {
    /// Where the socket should be.
    public let location: SocketLocation
    private let launcher: () -> DaemonLauncher?

    /// How long a daemon may take until it serves, in milliseconds.
    static let startMilliseconds = 10_000
    /// The pause between two looks at a daemon that another tool has just started, in microseconds.
    private static let pauseMicroseconds: UInt32 = 2_000

    /// A way that ends where there is no daemon, without a launcher; with one, a daemon is started there. The launcher is made only when it
    /// is needed, which is once in a daemon's life.
    public init(location: SocketLocation, launcher: @autoclosure @escaping () -> DaemonLauncher?) {
        self.location = location
        self.launcher = launcher
    }

    /// The usual way: a daemon is started on demand, but never at a socket that the caller named.
    public init(location: SocketLocation) {
        self.init(location: location, launcher: location.isExplicit ? nil : DaemonLauncher(location: location))
    }

    /// Connects to the running daemon, or else starts one.
    func connect() throws(ClientError) -> FileDescriptor {
        if let socket = try connectIfRunning() { return socket }
        guard let launcher = launcher() else { throw nobody() }
        return try start(launcher)
    }

    /// Connects if a daemon answers; `nil` if none does.
    private func connectIfRunning() throws(ClientError) -> FileDescriptor? {
        if let socket = try attempt(location.path) { return socket }
        // The daemon may have been started with another environment; its lock lies where the runtime directory plays no part.
        guard case .held(let holder?) = lockState(), holder.socketPath != location.path else { return nil }
        return try attempt(holder.socketPath)
    }

    private func lockState() -> LockState {
        // A lock that cannot be read says nothing; what is wrong with it, the daemon tells when it is started.
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

    /// Without a runtime directory the path may lie where others can write, so a listener there must be ours, or root's.
    private func checkPeer(of socket: Int32, _ path: String) throws(ClientError) {
        guard !location.isExplicit, let peer = try? PeerCredentials(of: socket), peer.uid != 0, peer.uid != geteuid()
        else { return }
        throw .unreachable(
            socketPath: path, reason: "uid \(peer.uid) listens there",
            hint: "if you trust that daemon, name its socket with --socket")
    }

    private static func hint(_ code: Int32) -> String? {
        code == EACCES ? "the socket belongs to another user; only its owner and root may connect" : nil
    }

    private func nobody() -> ClientError {
        if lockState() != .free {
            return .unreachable(
                socketPath: location.path, reason: "a daemon holds \(location.lockPath), but nothing listens there",
                hint: "it is starting or ending: try again")
        }
        let start = "carpool daemon start" + (location.isExplicit ? " --socket \(location.path)" : "")
        return .unreachable(
            socketPath: location.path, reason: "no daemon listens there",
            hint: location.isExplicit ? "a socket that was \(location.rule) gets no daemon unasked: \(start)" : start)
    }

    /// Starts a daemon. Several tools may do so at once: one daemon gets the lock, and all tools connect to that one.
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
