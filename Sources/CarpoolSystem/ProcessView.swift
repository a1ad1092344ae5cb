internal import CLinux
internal import Glibc

/// What decides which files and networks a process reaches: its view of the machine. Two processes of equal views that belong to one user can
/// do the same with every path.
public struct ProcessView: Equatable, Sendable {
    /// Something in which two views can differ.
    public enum Part: String, Sendable {
        case user
        case groups
        case capabilities
        case root = "root directory"
        case mounts = "mount namespace"
        case network = "network namespace"
        case users = "user namespace"
        /// Nothing is known of the other process.
        case unknown = "process, which cannot be looked at"
    }

    /// What a name in /proc leads to: device, inode, and the mount through which it is seen.
    private struct Place: Equatable {
        let device: UInt64
        let inode: UInt64
        let mount: UInt64

        init?(_ path: String) {
            var parts: (UInt64, UInt64, UInt64) = (0, 0, 0)
            let found = withUnsafeMutableBytes(of: &parts) {
                CLinux_identify(path, $0.baseAddress?.assumingMemoryBound(to: UInt64.self))
            }
            guard found == 0 else { return nil }
            (device, inode, mount) = parts
        }
    }

    private let root: Place
    private let mounts: Place
    private let network: Place
    private let users: Place
    private let status: ProcessStatus

    /// Reads the view of the process of that folder in /proc; `nil` if any part of it cannot be read.
    init?(folder: String) {
        guard let root = Place("\(folder)/root"), let mounts = Place("\(folder)/ns/mnt"),
            let network = Place("\(folder)/ns/net"), let users = Place("\(folder)/ns/user"),
            let status = ProcessStatus(path: "\(folder)/status")
        else { return nil }
        (self.root, self.mounts, self.network, self.users, self.status) = (root, mounts, network, users, status)
    }

    /// The view of this process; `nil` where /proc is not there, or shows another process namespace.
    public static func own() -> ProcessView? {
        guard let view = ProcessView(folder: "/proc/self"), view.status.pid == getpid() else { return nil }
        return view
    }

    /// The view of the process at the other end of a Unix socket: of the one that connected, whoever has the socket now.
    ///
    /// - Parameter connectedBefore: a point of the system's uptime (CLOCK_BOOTTIME, nanoseconds) at which the connection stood; for kernels
    ///   that cannot name the process by a descriptor, where it tells a process that has got the number since.
    /// - Returns: `nil` if the process is gone or cannot be looked at.
    public static func ofPeer(at socket: Int32, _ credentials: PeerCredentials, connectedBefore: UInt64) -> ProcessView?
    {
        guard credentials.pid > 0 else { return nil }
        let exact = CLinux_peer_process(socket)
        let raw = exact >= 0 ? exact : errno == ENOPROTOOPT ? CLinux_open_process(credentials.pid) : -1
        guard raw >= 0 else { return nil }
        let process = FileDescriptor(owning: raw)
        guard let view = ProcessView(folder: "/proc/\(credentials.pid)"), view.status.pid == credentials.pid else {
            return nil
        }
        if exact < 0, ProcessStatus.start(of: credentials.pid) ?? .max > connectedBefore { return nil }
        // Alive after all was read, so that its number was nobody else's meanwhile.
        return CLinux_process_lives(process.raw) == 1 ? view : nil
    }

    /// In what another process is shut off from what this one reaches, whatever its rights are; `nil` if it is not.
    public func enclosure(of other: ProcessView) -> Part? {
        if users != other.users { return .users }
        if mounts != other.mounts { return .mounts }
        if root != other.root { return .root }
        if network != other.network { return .network }
        return nil
    }

    /// In what another view differs so that a process with this one must open no path for it; `nil` if both reach the same.
    public func difference(from other: ProcessView) -> Part? {
        if status.user != other.status.user { return .user }
        if let part = enclosure(of: other) { return part }
        if status.groups != other.status.groups { return .groups }
        // More than ours does not matter: nothing is done with it.
        if status.capabilities & ~other.status.capabilities != 0 { return .capabilities }
        return nil
    }
}
