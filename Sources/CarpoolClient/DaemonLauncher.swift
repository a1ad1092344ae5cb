public import CarpoolSystem
internal import Glibc

/// Starts `carpoold` in the background and reads its start-up status.
public struct DaemonLauncher {
    private let location: SocketLocation
    private let homes: Directories
    private let program: String?

    /// The maximum size of the excerpt of the log for error messages, in bytes.
    private static let excerptBytes = 4_096

    /// A launcher for a daemon that serves this socket.
    public init(location: SocketLocation) {
        self.init(
            location: location, program: DaemonLauncher.findProgram(),
            homes: Directories(environment: .process, uid: geteuid()))
    }

    init(location: SocketLocation, program: String?, homes: Directories) {
        self.location = location
        self.program = program
        self.homes = homes
    }

    /// Names the log, if the daemon wrote one; else what checks why it could not.
    var hint: String? {
        access(homes.log, F_OK) == 0
            ? "its log is \(homes.log)" : "carpool doctor checks the directories; $XDG_STATE_HOME names another one"
    }

    /// The path of `carpoold`: beside this program, or else on PATH.
    public static func findProgram() -> String? {
        // Relative directories in PATH are ignored: they depend on the working directory.
        let path = (Environment.process["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        return ([ownFolder()].compactMap(\.self) + path).lazy.map { "\($0)/carpoold" }.first { program in
            SystemPath.withBytes(program) { access($0, X_OK) } == 0
        }
    }

    private static func ownFolder() -> Substring? {
        guard let path = ProgramArguments.programPath else { return nil }
        return path.lastIndex(of: "/").map { path[..<$0] }
    }

    /// Starts the daemon and waits until it serves; returns the reason in one line if it fails.
    func launch(deadline: MonotonicTime) throws(ClientError) -> String? {
        guard let program else {
            throw .unreachable(
                socketPath: location.path, reason: "no daemon runs, and no carpoold is beside this program or on PATH",
                hint: "install carpoold beside carpool")
        }
        do throws(SystemError) {
            return try run(program, deadline)
        } catch {
            return "\(error)"
        }
    }

    private func run(_ program: String, _ deadline: MonotonicTime) throws(SystemError) -> String? {
        try PrivateDirectory.create(homes.state)
        let log = try FileDescriptor.open(homes.log, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, mode: 0o600)
        let formerEnd = lseek(log.raw, 0, SEEK_END)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .last("pipe") }
        let reader = FileDescriptor(owning: ends[0])
        let process = try spawn(program, log: log, status: FileDescriptor(owning: ends[1]))
        switch DaemonLauncher.readLine(reader.raw, deadline) {
        case LaunchStatus.ready: return nil
        case let reason? where !reason.isEmpty:
            _ = process.waitForExit()
            return reason
        case .some:
            let code = process.waitForExit()
            return DaemonLauncher.lastLine(of: log.raw, from: formerEnd)
                ?? "it exited with code \(code) and without a message"
        case nil: return "it was not ready within 10 s"
        }
    }

    private func spawn(
        _ program: String, log: borrowing FileDescriptor, status: consuming FileDescriptor
    ) throws(SystemError) -> DetachedProcess {
        let variables =
            Environment.processVariables(where: DaemonLauncher.isInherited)
            + ["PATH=\(DaemonEnvironment.path)", "\(LaunchStatus.variable)=3"]
        let arguments = location.isExplicit ? ["--socket", location.path] : []
        return try DetachedProcess.spawn(
            program, arguments: arguments, environment: variables, log: log, status: status)
    }

    /// Whether the daemon inherits a variable: one that it keeps, and that no service manager set for this process.
    static func isInherited(_ name: Substring) -> Bool {
        guard name != LaunchStatus.variable, name != "NOTIFY_SOCKET" else { return false }
        return DaemonEnvironment.isKept(name) && !name.hasPrefix("LISTEN_") && !name.hasPrefix("WATCHDOG_")
    }

    /// Reads the status line from the pipe: empty if it was closed without one, `nil` after a timeout.
    private static func readLine(_ fd: Int32, _ deadline: MonotonicTime) -> String? {
        var line: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 512)
        while deadline.waitForInput(fd) {
            let result = buffer.withUnsafeMutableBytes { Bytes.read(fd, into: $0) }
            guard case .bytes(let count) = result else { return "" }
            line += buffer[..<count]
            let end = line.firstIndex(of: UInt8(ascii: "\n"))
            if end != nil || line.count >= excerptBytes {
                return String(decoding: line[..<(end ?? line.count)], as: UTF8.self)
            }
        }
        return nil
    }

    /// The last line of the log after an offset: the error message of the dynamic linker or of the daemon.
    private static func lastLine(of log: Int32, from offset: Int) -> String? {
        var bytes = [UInt8](repeating: 0, count: excerptBytes)
        let end = lseek(log, 0, SEEK_END)
        let count = pread(log, &bytes, bytes.count, max(offset, end - bytes.count))
        guard count > 0 else { return nil }
        return bytes[..<count].split(separator: UInt8(ascii: "\n")).last.map { String(decoding: $0, as: UTF8.self) }
    }
}
