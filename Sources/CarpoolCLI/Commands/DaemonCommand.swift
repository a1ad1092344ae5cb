internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// `carpool daemon start | stop | status | restart`
enum DaemonCommand: Command {
    static let name = "daemon"
    static let synopsis = "[OPTIONS] start | stop | status | restart"
    static let summary = "start, stop or inspect the daemon"
    static let details = """
        start     start the daemon if it does not run (requests start it too)
        stop      finish the running requests, then end the daemon
        status    print whether it runs; the exit code is 3 if it does not
        restart   stop and start
        """

    static var examples: [String] { ["carpool daemon status", "carpool daemon start --socket /tmp/test.sock"] }

    static var options: [Option<Arguments>] { [.socket, .help] }

    static var operandWords: [String] { Action.allCases.map(\.rawValue) }

    /// The operand.
    enum Action: String, CaseIterable {
        case start, stop, status, restart
    }

    struct Arguments: CommandArguments {
        var action: Action?
        var socket: String?
    }

    static var arguments: Arguments { Arguments() }

    static func add(_ operand: String, to arguments: inout Arguments) throws(UsageError) {
        guard arguments.action == nil, let action = Action(rawValue: operand) else {
            throw UsageError("daemon takes one of start, stop, status, restart, not '\(operand)'")
        }
        arguments.action = action
    }

    static func validate(_ arguments: Arguments) throws(UsageError) {
        guard arguments.action != nil else { throw UsageError("daemon needs start, stop, status or restart") }
    }

    static func run(_ arguments: Arguments) throws(Failure) -> ExitCode {
        let control = DaemonControl(location: SocketLocation.resolve(option: arguments.socket))
        switch arguments.action {
        case .start: try control.start()
        case .stop: try control.stop()
        case .status: return try control.status()
        case .restart:
            try control.stop()
            try control.start()
        case nil: break
        }
        return .success
    }
}

/// Starts and stops the daemon of one socket.
private struct DaemonControl {
    let location: SocketLocation

    /// The timeout of a stop in milliseconds: the default of a drain, 30 s, and time to exit.
    private static let stopMilliseconds = 35_000
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
        let pid = try daemon.call("daemon.info")["server"]?["pid"]?.integer ?? 0
        _ = try daemon.call("daemon.drain")
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
}
