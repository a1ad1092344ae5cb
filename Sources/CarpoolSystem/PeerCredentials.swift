internal import CLinux
internal import Glibc

/// The credentials of the peer of a Unix socket, which the kernel recorded when the connection was made (SO_PEERCRED,
/// unix(7)).
public struct PeerCredentials: Equatable, Sendable {
    /// The effective user.
    public let uid: UInt32
    /// The effective group.
    public let gid: UInt32
    /// The process; 0 if it is in a process namespace that this process cannot see.
    public let pid: Int32

    /// Makes credentials from their parts.
    public init(uid: UInt32, gid: UInt32, pid: Int32) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
    }

    /// Reads the credentials from a connected socket. On a client's side they are those of the process that began to
    /// listen.
    public init(of fd: Int32) throws(SystemError) {
        var uid: uid_t = 0
        var gid: gid_t = 0
        var pid: pid_t = 0
        guard CLinux_peer_credentials(fd, &uid, &gid, &pid) == 0 else { throw .last("getsockopt SO_PEERCRED") }
        self.init(uid: uid, gid: gid, pid: pid)
    }
}
