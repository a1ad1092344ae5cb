internal import CarpoolSystem
internal import Glibc

/// What a resume token says of its partial file.
public struct PartialClaim: Sendable {
    /// Where it lies.
    public let path: String
    /// The mark of the version that it holds.
    let validator: String
    /// How many bytes it has, or had.
    let bytes: Int64
    /// The checksum of these bytes, if the token has it.
    let checksum: UInt32?
}

/// Whether a partial file is what its token says.
enum PartialFit {
    case intact
    /// It has fewer bytes.
    case lost
    /// It holds another version, or something else has changed it.
    case changed
}

/// A partial file of an earlier download, opened and locked, and not attached to a request yet.
struct OpenedPartial: ~Copyable {
    let path: String
    /// Its size, and if it is intact the number of its known bytes.
    private(set) var count: Int64
    /// The checksum of the known bytes.
    private(set) var checksum: UInt32 = 0
    /// Whether it is what its token says; `nil` as long as it has to be read for that.
    private(set) var fit: PartialFit?
    /// The bytes whose checksum has to be as recorded, and those of them that were read.
    private var unread = (bytes: Int64(0), checksum: UInt32(0))
    private var reading = BodyChecksum.Reading()
    let folder: Folder
    let identity: FileStatus.Identity
    let descriptor: FileDescriptor

    /// Opens one. May block.
    /// - Throws: EPERM if it is not a partial file of this user, EWOULDBLOCK if another request uses it, or the reason
    ///   why it cannot be opened.
    init(at path: String) throws(SystemError) {
        guard path.hasPrefix("/"), PartialName.request(ofPath: path) != nil else {
            throw SystemError(code: EPERM, operation: "open", subject: path)
        }
        let (parent, name) = PartialLocation.split(path)
        let folder = try Folder.resolving(parent)
        let opened = try folder.open(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
        let status = try FileStatus(of: opened.raw)
        guard status.kind == .regular, status.owner == geteuid(), status.links == 1 else {
            throw SystemError(code: EPERM, operation: "open", subject: path)
        }
        guard flock(opened.raw, LOCK_EX | LOCK_NB) == 0 else { throw .last("flock", path) }
        self.path = path
        count = status.size
        self.folder = folder
        identity = status.identity
        descriptor = opened
    }

    /// Files of at least this size are not read if their size and the time of their last change are as recorded.
    private static let trustedBytes: Int64 = 67_108_864

    /// Compares the file with its record and its token, as far as that is possible without reading it, and truncates
    /// it to the bytes whose checksum is known. May block.
    mutating func compare(with claim: PartialClaim) throws(SystemError) {
        let status = try FileStatus(of: descriptor.raw)
        guard status.size >= claim.bytes else { return fit = .lost }
        var (bytes, known, isTrusted) = (claim.bytes, claim.checksum, false)
        if let record = PartialRecord(of: descriptor.raw) {
            guard record.holds(claim.validator), status.size >= record.bytes,
                record.changed == nil || status.size == record.bytes
            else { return fit = .changed }
            (bytes, known) = (record.bytes, record.checksum)
            isTrusted = record.changed == status.changed && bytes >= OpenedPartial.trustedBytes
        }
        guard let known else { return fit = .changed }
        unread = (bytes, known)
        if isTrusted { try keepKnownBytes(of: status.size) } else { try readOn() }
    }

    /// The most bytes that are read at a time: one file does not occupy a thread for long.
    private static let sliceBytes: Int64 = 16_777_216

    /// Reads more of the file, until its checksum can be compared. May block.
    mutating func readOn() throws(SystemError) {
        let end = min(unread.bytes, reading.count + OpenedPartial.sliceBytes)
        guard try reading.goOn(to: end, of: descriptor.raw) else { return fit = .changed }
        guard reading.count == unread.bytes else { return }
        guard reading.checksum == unread.checksum else { return fit = .changed }
        try keepKnownBytes(of: try FileStatus(of: descriptor.raw).size)
    }

    /// Truncates the file to the bytes whose checksum is known.
    private mutating func keepKnownBytes(of size: Int64) throws(SystemError) {
        guard size == unread.bytes || ftruncate(descriptor.raw, off_t(unread.bytes)) == 0 else {
            throw .last("ftruncate", path)
        }
        (count, checksum) = unread
        fit = .intact
    }

    /// Removes the partial file at a path, unless a request uses it. Returns whether it is gone. May block.
    @discardableResult static func removeUnused(_ path: String, index: PartialFileIndex?) -> Bool {
        do throws(SystemError) {
            try OpenedPartial(at: path).remove(index)
            return true
        } catch {
            return error.code == ENOENT
        }
    }

    consuming func remove(_ index: PartialFileIndex?) {
        try? folder.unlink(PartialLocation.split(path).name)
        index?.remove(path)
    }
}
