internal import CarpoolSystem
internal import Glibc

/// The file that a download is written to until it is whole: it lies beside its destination, so that a rename is all that is left to do, with mode
/// 0600 and locked, so that nobody else goes on with it meanwhile.
public final class PartialFile {
    /// Where it lies now; its final place once it was moved.
    public private(set) var place: String
    /// How many bytes it has.
    public private(set) var count: Int64
    /// Whether it may be left for a later request; not so if nobody would remember it.
    let isKept: Bool
    private var descriptor: FileDescriptor?
    private let index: PartialFileIndex?

    /// Makes an empty file for a destination.
    init(beside destination: String, request: String, index: PartialFileIndex?) throws(SystemError) {
        let slash = destination.lastIndex(of: "/") ?? destination.startIndex
        let name = String(destination[slash...].dropFirst())
        place = "\(destination[..<slash])/\(PartialName.make(for: name, request: request))"
        let opened = try FileDescriptor.open(place, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        flock(opened.raw, LOCK_EX | LOCK_NB)
        descriptor = consume opened
        count = 0
        isKept = index?.add(place, request: request) ?? true
        self.index = index
    }

    /// Opens one that an earlier download has left.
    /// - Throws: EPERM if it is no partial file of this user's, EWOULDBLOCK if another request has it, or the reason why it cannot be opened.
    init(at path: String, index: PartialFileIndex?) throws(SystemError) {
        guard path.hasPrefix("/"), PartialName.request(ofPath: path) != nil else {
            throw SystemError(code: EPERM, operation: "open", subject: path)
        }
        let opened = try FileDescriptor.open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
        var status = stat()
        guard fstat(opened.raw, &status) == 0 else { throw .last("fstat", path) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_nlink == 1 else {
            throw SystemError(code: EPERM, operation: "open", subject: path)
        }
        guard flock(opened.raw, LOCK_EX | LOCK_NB) == 0 else { throw .last("flock", path) }
        descriptor = consume opened
        place = path
        count = Int64(status.st_size)
        isKept = true
        self.index = index
    }

    /// Cuts it to so many bytes; what is written next follows them.
    func truncate(to count: Int64) throws(SystemError) {
        guard let fd = descriptor?.raw else { throw SystemError(code: EBADF, operation: "ftruncate", subject: place) }
        guard ftruncate(fd, off_t(count)) == 0 else { throw .last("ftruncate", place) }
        guard lseek(fd, off_t(count), SEEK_SET) >= 0 else { throw .last("lseek", place) }
        self.count = count
    }

    /// Reads a piece, to hash it; empty at the end.
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        guard let fd = descriptor?.raw else { throw SystemError(code: EBADF, operation: "pread", subject: place) }
        let read = pread(fd, buffer.baseAddress, buffer.count, off_t(offset))
        guard read >= 0 else { throw .last("pread", place) }
        return read
    }

    /// Gives it its final name, in one step. EEXIST if there is a file already that is not to be replaced, and for whatever is no regular file.
    func move(to destination: String, _ options: DownloadOptions) throws(SystemError) {
        guard let fd = descriptor?.raw else { throw SystemError(code: EBADF, operation: "rename", subject: place) }
        var status = stat()
        if lstat(destination, &status) == 0, status.st_mode & S_IFMT != S_IFREG, status.st_mode & S_IFMT != S_IFLNK {
            let code = status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EEXIST
            throw SystemError(code: code, operation: "rename", subject: destination)
        }
        guard fchmod(fd, 0o666 & ~options.umask) == 0 else { throw .last("fchmod", place) }
        if options.removesPreviousFile {
            guard rename(place, destination) == 0 else { throw .last("rename", destination) }
        } else {
            try FileDescriptor.renameWithoutReplacing(place, to: destination)
        }
        index?.remove(place)
        place = destination
        descriptor = nil
    }

    /// Gives its descriptor back, and its lock; the file stays.
    func close() { descriptor = nil }

    /// Removes it.
    func remove() {
        unlink(place)
        index?.remove(place)
        descriptor = nil
    }

    /// Removes the partial file at a path, unless a request has it. Gives whether it is gone.
    @discardableResult static func removeUnused(_ path: String, index: PartialFileIndex?) -> Bool {
        do throws(SystemError) {
            try PartialFile(at: path, index: index).remove()
            return true
        } catch {
            return error.code == ENOENT
        }
    }
}

extension PartialFile: SpoolFile {
    /// Where others can open it.
    public var path: String? { place }

    /// Adds bytes at the end.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(SessionError) {
        guard let fd = descriptor?.raw else { return }
        do throws(SystemError) { try Bytes.writeAll(fd, bytes) } catch { throw .cannotWriteToFile(place, error) }
        count &+= Int64(bytes.count)
    }

    /// It is written at once.
    public var isFull: Bool { false }

    /// Its name is given by ``move(to:_:)``.
    public func complete(_ completion: @escaping (Result<[UInt8]?, SessionError>) -> Void) { completion(.success(nil)) }

    /// All of its bytes, wherever it lies now.
    public func contents(_ completion: @escaping (Result<[UInt8], SessionError>) -> Void) {
        do throws(SessionError) { completion(.success(try contents())) } catch { completion(.failure(error)) }
    }

    /// All of its bytes, wherever it lies now.
    public func contents() throws(SessionError) -> [UInt8] {
        do throws(SystemError) {
            let opened = try FileDescriptor.open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            return try Bytes.readAll(opened.raw, atMost: Int(clamping: count), path: place)
        } catch {
            throw .inputFileReadFailed(path: place, reason: error.description)
        }
    }

    /// What a download has written is its caller's.
    public func discard() {}
}
