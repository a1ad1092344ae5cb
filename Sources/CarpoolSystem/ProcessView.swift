internal import CLinux
internal import Glibc

/// The view that a process has of the machine: it decides which files and networks it can reach. Two processes of one
/// user with equal views can do the same with every path.
public struct ProcessView: Equatable, Sendable {
    /// A property in which two views can differ.
    public enum Part: String, Sendable {
        case user
        case groups
        case capabilities
        case root = "root directory"
        case mounts = "mount namespace"
        case network = "network namespace"
        case users = "user namespace"
        /// The other process is unknown.
        case unknown = "process (it cannot be inspected)"
        /// The views cannot be compared now, for a ``Shortage``.
        case shortage = "process (it cannot be inspected now)"
    }

    /// The target of a name in /proc: device, inode, and mount.
    private struct Place: Equatable {
        let device: UInt64
        let inode: UInt64
        let mount: UInt64

        init?(_ path: String) {
            var parts: (UInt64, UInt64, UInt64) = (0, 0, 0)
            let found = withUnsafeMutableBytes(of: &parts) {
                CLinux_identify(path, $0.baseAddress?.assumingMemoryBound(to: UInt64.self))
            }
            guard found == 0 else {
                Shortage.noteIfShort(errno)
                return nil
            }
            (device, inode, mount) = parts
        }
    }

    private let root: Place
    private let mounts: Place
    private let network: Place
    private let users: Place
    private let status: ProcessStatus

    /// Reads the view of the process with this directory in /proc; `nil` if any part of it cannot be read.
    init?(folder: String) {
        guard let root = Place("\(folder)/root"), let mounts = Place("\(folder)/ns/mnt"),
            let network = Place("\(folder)/ns/net"), let users = Place("\(folder)/ns/user"),
            let status = ProcessStatus(path: "\(folder)/status")
        else { return nil }
        (self.root, self.mounts, self.network, self.users, self.status) = (root, mounts, network, users, status)
    }

    /// The view of this process; `nil` if /proc is missing or shows another process namespace.
    public static func own() -> ProcessView? {
        guard let view = ProcessView(folder: "/proc/self"), view.status.pid == getpid() else { return nil }
        return view
    }

    /// The view of the process that connected a Unix socket, whichever process has the socket now.
    ///
    /// - Parameter connectedBefore: a point of the system's uptime (CLOCK_BOOTTIME, nanoseconds) at which the
    ///   connection existed; for kernels without pidfds for sockets, where it detects a process that got the same pid
    ///   later.
    /// - Returns: `nil` if the process has ended or cannot be inspected.
    public static func ofPeer(at socket: Int32, _ credentials: PeerCredentials, connectedBefore: UInt64) -> ProcessView?
    {
        guard credentials.pid > 0 else { return nil }
        let exact = CLinux_peer_process(socket)
        let raw = exact >= 0 ? exact : errno == ENOPROTOOPT ? CLinux_open_process(credentials.pid) : -1
        guard raw >= 0 else {
            Shortage.noteIfShort(errno)
            return nil
        }
        let process = FileDescriptor(owning: raw)
        guard let view = ProcessView(folder: "/proc/\(credentials.pid)"), view.status.pid == credentials.pid else {
            return nil
        }
        if exact < 0, ProcessStatus.start(of: credentials.pid) ?? .max > connectedBefore { return nil }
        // Still alive after everything was read, so that its pid was not reused meanwhile.
        let lives = CLinux_process_lives(process.raw)
        if lives < 0 { Shortage.noteIfShort(errno) }
        return lives == 1 ? view : nil
    }

    /// The part of this process's view that another process cannot reach, whatever its rights are; `nil` if there is
    /// none.
    public func sandboxDifference(of other: ProcessView) -> Part? {
        if users != other.users { return .users }
        if mounts != other.mounts { return .mounts }
        if root != other.root { return .root }
        if network != other.network { return .network }
        return nil
    }

    /// The difference to another view for which this process must open no path on its behalf; `nil` if both reach the
    /// same.
    public func difference(from other: ProcessView) -> Part? {
        if status.user != other.status.user { return .user }
        if let part = sandboxDifference(of: other) { return part }
        if status.groups != other.status.groups { return .groups }
        // Additional capabilities of the other process have no effect.
        if status.capabilities & ~other.status.capabilities != 0 { return .capabilities }
        return nil
    }
}
