internal import CarpoolClient
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// `carpool daemon start | stop | status | restart`
enum DaemonCommand: Command {
    static let name = "daemon"
    static let synopsis = "[OPTIONS] start | stop | status | restart"
    static let summary = "start, stop or look at the daemon"
    static let details = """
        start     start the daemon if it does not run (requests do so by themselves)
        stop      let requests under way finish, and end the daemon
        status    say whether it runs; exit with 3 if it does not
        restart   stop and start
        """

    static var examples: [String] { ["carpool daemon status", "carpool daemon start --socket /tmp/test.sock"] }

    static var options: [Option<Arguments>] { [.socket, .help] }

    /// What is done with the daemon.
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

/// The daemon of one socket, to be started and stopped.
private struct DaemonControl {
    let location: SocketLocation

    /// How long a daemon that drains may take until it has ended, in milliseconds: its drain's default of 30 s, and the end itself.
    private static let stopMilliseconds = 35_000
    /// The pause between two looks at the lock of a daemon that has closed its connections, in microseconds.
    private static let pauseMicroseconds: UInt32 = 2_000

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
        // Its connections close before it lets go of the lock, without which a successor cannot start. Its /proc entry loses the program
        // when it has ended, even while nobody has asked for its exit code.
        while hasEnded, try lockState() != .free || access("/proc/\(pid)/exe", F_OK) == 0 {
            hasEnded = MonotonicTime.read() < deadline
            usleep(DaemonControl.pauseMicroseconds)
        }
        guard hasEnded else {
            throw Failure(
                .timedOut, "carpoold still finishes its requests", hint: "carpool call daemon.shutdown ends it at once")
        }
        try Terminal.print("carpoold has ended\n")
    }
}
