internal import CarpoolCaller
internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// Starts and stops the daemon of one socket.
struct DaemonControl {
    let location: SocketLocation

    /// The timeout of a stop in milliseconds: the default of a drain, 30 s, and time to exit.
    private static let stopMilliseconds = 35_000
    /// How long a lock without a holder is read again, in milliseconds.
    private static let changeMilliseconds = 1_000
    /// The interval at which the lock is polled after the connections were closed, in microseconds.
    private static let pauseMicroseconds: UInt32 = 2_000

    /// Connects to the running daemon; returns `nil` if none runs.
    private func running() throws(Failure) -> DaemonAccess? {
        do throws(Failure) {
            return try DaemonAccess(DaemonFinder(location: location, launcher: nil))
        } catch {
            // A daemon that holds the lock and does not answer is an error.
            guard error.code == .unreachable, try lockState() == .free else { throw error }
            return nil
        }
    }

    /// The same, but also `nil` if a daemon holds the lock and does not answer, as while it starts or stops.
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
            throw Failure(.unreachable, "cannot read the lock file: \(error)")
        }
    }

    /// Whether a process has the lock, or may have it. A client may have started the next daemon already.
    private func hasLock(_ pid: Int64) throws(Failure) -> Bool {
        switch try lockState() {
        case .free: false
        case .held(let holder): holder.map { Int64($0.pid) == pid } ?? true
        }
    }

    func start() throws(Failure) {
        if let daemon = try runningOrNot() { return try describe(daemon, "is running already") }
        let finder = DaemonFinder(location: location, launcher: DaemonLauncher(location: location))
        try describe(try DaemonAccess(finder), "is running")
    }

    func status() throws(Failure) -> ExitCode {
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

    func stop() throws(Failure) {
        guard let daemon = try running() else { return try Terminal.print("carpoold is not running\n") }
        let pid = try pid(of: daemon)
        try confirm(pid)
        try drain(daemon)
        let deadline = MonotonicTime.read().advanced(milliseconds: DaemonControl.stopMilliseconds)
        var hasEnded = daemon.waitForClose(milliseconds: DaemonControl.stopMilliseconds)
        // The daemon closes its connections before it releases the lock, which the next daemon needs. The link
        // /proc/PID/exe vanishes when the process has ended, even while it is a zombie.
        while hasEnded, try hasLock(pid) || access("/proc/\(pid)/exe", F_OK) == 0 {
            hasEnded = MonotonicTime.read() < deadline
            usleep(DaemonControl.pauseMicroseconds)
        }
        guard hasEnded else {
            throw Failure(
                .timedOut, "carpoold is still draining: it waits for running requests",
                hint: "carpool call daemon.shutdown cancels them, and ends it at once")
        }
        try Terminal.print("carpoold has ended\n")
    }

    /// The process that the daemon reports.
    private func pid(of daemon: DaemonAccess) throws(Failure) -> Int64 {
        guard let pid = try daemon.call("daemon.info")["server"]?["pid"]?.integer, pid > 0 else {
            throw Failure(.unreachable, "the daemon at \(location.path) does not report its pid, and was not ended")
        }
        return pid
    }

    /// Requires that no other process than the reported one holds the lock. Waits a moment for a daemon that starts or
    /// ends.
    private func confirm(_ pid: Int64) throws(Failure) {
        let deadline = MonotonicTime.read().advanced(milliseconds: DaemonControl.changeMilliseconds)
        var target = StopTarget(try lockState(), reported: pid)
        while target == .changing, MonotonicTime.read() < deadline {
            usleep(DaemonControl.pauseMicroseconds)
            target = StopTarget(try lockState(), reported: pid)
        }
        switch target {
        case .confirmed, .unlocked: break
        case .changing:
            throw Failure(
                .unreachable, "a daemon that starts or ends holds \(location.lockPath), and none was ended",
                hint: "try again")
        case .other(let holder):
            throw Failure(
                .unreachable,
                "the daemon at \(location.path) is process \(pid), but process \(holder) holds \(location.lockPath): neither was ended",
                hint: "carpool doctor shows both; with --socket name the socket of the daemon to end")
        }
    }

    /// Asks the daemon on this connection to end, and no other: one that has closed the connection is ending already.
    private func drain(_ daemon: DaemonAccess) throws(Failure) {
        do throws(Failure) {
            try daemon.begin("daemon.drain", passing: .none) { $0.raw(Array("{}".utf8)) }
            while true {
                for case .answer in try daemon.receive() { return }
            }
        } catch {
            guard error.isDisconnected else { throw error }
        }
    }
}
