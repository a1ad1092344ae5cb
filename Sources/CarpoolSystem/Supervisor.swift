internal import CLinux
internal import Glibc

/// A notification to the service manager of a daemon (sd_notify(3)).
public enum SupervisorNotification: Equatable, Sendable {
    /// It serves.
    case ready
    /// One line for people.
    case status(String)
    /// It reads its configuration again; ``ready`` ends it.
    case reloading
    /// It is about to end.
    case stopping
    /// It is alive.
    case watchdog

    func text(at now: MonotonicTime) -> String {
        switch self {
        case .ready: "READY=1"
        // A line feed would start another assignment.
        case .status(let text): "STATUS=" + String(text.map { $0.isNewline ? " " : $0 })
        case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(now.nanoseconds / 1_000)"
        case .stopping: "STOPPING=1"
        case .watchdog: "WATCHDOG=1"
        }
    }
}

/// The service manager that started this process, if one did: systemd's protocols without its library.
public struct Supervisor: Sendable {
    /// The socket for notifications; `nil` if there is none.
    let notifyAddress: String?
    /// The number of passed sockets, from descriptor 3 on.
    let socketCount: Int
    /// The watchdog timeout of the service manager, in milliseconds; notify it twice as often. `nil` if there is
    /// none.
    public let watchdogMilliseconds: Int?

    /// The first passed descriptor: SD_LISTEN_FDS_START of sd_listen_fds(3).
    private static let firstDescriptor: Int32 = 3
    /// Maximum number of passed sockets: the daemon serves one, and a wrong number must not make it close all
    /// descriptors.
    private static let maximumSockets = 16
    private static let variables = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
    ]

    /// Reads the variables of an environment; those for another process are ignored.
    init(environment: Environment, pid: Int32) {
        notifyAddress = environment["NOTIFY_SOCKET"]
        let isForThisProcess = environment["LISTEN_PID"].flatMap { Int32($0) } == pid
        let count = environment["LISTEN_FDS"].flatMap { Int($0) } ?? 0
        socketCount = isForThisProcess ? min(max(count, 0), Supervisor.maximumSockets) : 0
        let watched = environment["WATCHDOG_PID"].map { Int32($0) == pid } ?? true
        let interval = environment["WATCHDOG_USEC"].flatMap { Int($0) } ?? 0
        watchdogMilliseconds = watched && interval >= 1_000 ? interval / 1_000 : nil
    }

    /// Reads the variables of this process and unsets them, so that no child takes them for its own.
    public static func takeFromEnvironment() -> Supervisor {
        let manager = Supervisor(environment: .process, pid: getpid())
        for variable in variables { unsetenv(variable) }
        return manager
    }

    /// The listening Unix socket that was handed over (socket activation), made non-blocking and close-on-exec; `nil`
    /// if there was none. Whatever else was handed over is closed. To be called once.
    public func takeListener() -> FileDescriptor? { takeListener(from: Supervisor.firstDescriptor) }

    func takeListener(from first: Int32) -> FileDescriptor? {
        var listener: Int32?
        for offset in 0..<Int32(socketCount) {
            let fd = first + offset
            if listener == nil, Supervisor.isListener(fd) {
                listener = fd
            } else {
                close(fd)
            }
        }
        guard let listener else { return nil }
        _ = CLinux_set_close_on_exec(listener, 1)
        _ = CLinux_set_nonblocking(listener)
        return FileDescriptor(owning: listener)
    }

    private static func isListener(_ fd: Int32) -> Bool {
        func option(_ name: Int32) -> Int32? {
            var value: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(fd, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
        }
        return option(SO_ACCEPTCONN) == 1 && option(SO_DOMAIN) == AF_UNIX
            && option(SO_TYPE) == Int32(SOCK_STREAM.rawValue)
    }

    /// Sends one notification without waiting; `false` if there is no receiver or it could not be delivered, which is
    /// harmless.
    @discardableResult
    public func notify(_ notification: SupervisorNotification) -> Bool {
        guard let notifyAddress, let address = UnixAddress(service: notifyAddress) else { return false }
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let fd = socket(AF_UNIX, type, 0)
        guard fd >= 0 else { return false }
        let datagram = FileDescriptor(owning: fd)
        guard address.withPointer({ connect(datagram.raw, $0, $1) }) == 0 else { return false }
        let text = Array(notification.text(at: .read()).utf8)
        return send(datagram.raw, text, text.count, Int32(MSG_NOSIGNAL)) == text.count
    }
}
