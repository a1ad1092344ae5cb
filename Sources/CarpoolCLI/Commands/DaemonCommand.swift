internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// `carpool daemon start | stop | status | restart`
struct DaemonCommand {
    private let action: Invocation.DaemonAction
    private let location: SocketLocation

    /// How long a daemon that drains may take until it has ended, in milliseconds: its drain's default of 30 s, and the end itself.
    private static let stopMilliseconds = 35_000
    /// The pause between two looks at the lock of a daemon that has closed its connections, in microseconds.
    private static let pauseMicroseconds: UInt32 = 2_000

    init(_ action: Invocation.DaemonAction, socket: String?) {
        self.action = action
        location = SocketLocation.resolve(option: socket)
    }

    func run() throws(Failure) -> ExitCode {
        switch action {
        case .start: try start()
        case .stop: try stop()
        case .status: return try status()
        case .restart:
            try stop()
            try start()
        }
        return .success
    }

    /// A daemon that runs, if one does; it is not started.
    private func running() throws(Failure) -> DaemonAccess? {
        do throws(Failure) {
            return try DaemonAccess(DaemonFinder(location: location, launcher: nil))
        } catch {
            // A daemon that has the lock and does not answer is not the same as none.
            guard error.code == .unreachable, try lockState() == .free else { throw error }
            return nil
        }
    }

    /// The same; `nil` also if one has the lock and does not answer, as while it starts or ends. Starting waits for its end.
    private func runningOrNot() throws(Failure) -> DaemonAccess? {
        do throws(Failure) {
            return try running()
        } catch {
            guard error.code == .unreachable else { throw error }
            return nil
        }
    }

    private func lockState() throws(Failure) -> LockState {
        do throws(SystemError) {
            return try InstanceLock.state(at: location.lockPath)
        } catch {
            throw Failure(.unreachable, "cannot look at the lock: \(error)")
        }
    }

    private func start() throws(Failure) {
        if let daemon = try runningOrNot() { return try describe(daemon, "is running already") }
        let finder = DaemonFinder(location: location, launcher: DaemonLauncher(location: location))
        try describe(try DaemonAccess(finder), "is running")
    }

    private func status() throws(Failure) -> ExitCode {
        guard let daemon = try running() else {
            try Terminal.print("carpoold is not running (\(PlainText.escaped(location.path)))\n")
            return .unreachable
        }
        try describe(daemon, "is running")
        return .success
    }

    private func describe(_ daemon: DaemonAccess, _ state: String) throws(Failure) {
        let info = try daemon.call("daemon.info")
        let pid = info["server"]?["pid"]?.integer.map { "pid \($0), " } ?? ""
        let version = info["server"]?["version"]?.string ?? "?"
        let socket = info["socket"]?.string ?? location.path
        try Terminal.print(PlainText.escaped("carpoold \(version) \(state): \(pid)socket \(socket)") + "\n")
    }

    private func stop() throws(Failure) {
        guard let daemon = try running() else { return try Terminal.print("carpoold is not running\n") }
        let pid = try daemon.call("daemon.info")["server"]?["pid"]?.integer ?? 0
        _ = try daemon.call("daemon.drain")
        let deadline = MonotonicTime.read().advanced(milliseconds: DaemonCommand.stopMilliseconds)
        var hasEnded = daemon.waitForClose(milliseconds: DaemonCommand.stopMilliseconds)
        // Its connections close before it lets go of the lock, without which a successor cannot start. Its /proc entry loses the program
        // when it has ended, even while nobody has asked for its exit code.
        while hasEnded, try lockState() != .free || access("/proc/\(pid)/exe", F_OK) == 0 {
            hasEnded = MonotonicTime.read() < deadline
            usleep(DaemonCommand.pauseMicroseconds)
        }
        guard hasEnded else {
            throw Failure(
                .timedOut, "carpoold still finishes its requests", hint: "carpool call daemon.shutdown ends it at once")
        }
        try Terminal.print("carpoold has ended\n")
    }
}
