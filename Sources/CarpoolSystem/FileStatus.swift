internal import Glibc

/// The status of a file (stat(2)).
public struct FileStatus: Sendable {
    /// The identity of a file, independent of its names: device and inode.
    public struct Identity: Equatable, Sendable {
        let device: UInt
        let number: UInt
    }

    /// The kinds that callers distinguish.
    public enum Kind: Sendable {
        /// A regular file.
        case regular
        /// A directory.
        case directory
        /// A symbolic link.
        case link
        /// A pipe, a socket or a device.
        case other
    }

    /// The identity of the file.
    public let identity: Identity
    /// Its type.
    public let kind: Kind
    /// Its size in bytes.
    public let size: Int64
    /// When its bytes were last changed, in nanoseconds since 1970.
    public let changed: Int64
    /// The uid of the owner.
    public let owner: UInt32
    /// The gid of its group.
    public let group: UInt32
    /// Its permission bits, with those of set-user-ID, set-group-ID and sticky.
    public let permissions: UInt32
    /// Its number of links.
    public let links: Int

    /// Reads the status of an open file.
    public init(of descriptor: Int32) throws(SystemError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .last("fstat") }
        self.init(status)
    }

    init(_ status: stat) {
        identity = Identity(device: UInt(status.st_dev), number: UInt(status.st_ino))
        size = Int64(status.st_size)
        changed = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        owner = status.st_uid
        group = status.st_gid
        permissions = UInt32(status.st_mode) & 0o7777
        links = Int(status.st_nlink)
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
    }
}
