public import CarpoolSystem
internal import Glibc

/// A file as the jobs of its ``FileWriter`` see it.
///
/// `@unchecked Sendable` because only the jobs of one queue touch it, one at a time and in order.
public final class BackgroundFile: @unchecked Sendable {
    /// Opens the file; the reason if it cannot.
    public typealias Opening = @Sendable (BackgroundFile) -> SystemError?

    /// Open from the first job that needs it to the last.
    public var descriptor: FileDescriptor?
    /// How many bytes it has.
    public var end: Int64 = 0
    /// Why it could not be opened or written; nothing is written after a failure.
    public private(set) var failure: SystemError?
    /// Takes every byte that is written, if the hash is wanted.
    var hash: SHA256Hash?
    private var opening: Opening?

    init(_ opening: @escaping Opening) { self.opening = opening }

    /// Opens it, if no job has before. The reason if it cannot be opened or could not be written.
    public func open() -> SystemError? {
        if let opening {
            self.opening = nil
            failure = opening(self)
        }
        return failure
    }

    /// Writes bytes at the end, as many as can be written.
    @discardableResult func write(_ bytes: [UInt8]) -> SystemError? {
        guard open() == nil else { return failure }
        guard let fd = descriptor?.raw else { return fail(SystemError(code: EBADF, operation: "write")) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { pwrite(fd, $0.baseAddress, $0.count, off_t(end)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                return fail(count < 0 ? .last("write") : SystemError(code: EIO, operation: "write"))
            }
            // A hash that lacks bytes from before takes these from the file, later.
            if let hash, hash.count == end { rest.prefix(count).withUnsafeBytes { hash.update($0) } }
            end &+= Int64(count)
            rest = rest.dropFirst(count)
        }
        return nil
    }

    /// Notes why nothing more can be written.
    @discardableResult public func fail(_ error: SystemError) -> SystemError {
        failure = failure ?? error
        return error
    }

    /// Has every byte hashed from now on, and those that are there when there is time.
    func wantHash() {
        if hash == nil { hash = SHA256Hash() }
    }

    /// Cuts it to so many bytes.
    func truncate(to count: Int64) {
        guard open() == nil else { return }
        guard let fd = descriptor?.raw, ftruncate(fd, off_t(count)) == 0 else {
            fail(.last("ftruncate"))
            return
        }
        end = count
        if let hash, hash.count > count { self.hash = SHA256Hash() }
    }

    /// How much is hashed by one job: some milliseconds.
    private static let hashedBytesPerJob: Int64 = 4_194_304

    /// Hashes bytes that the hash lacks, but not all of many. Returns whether it lacks none.
    func catchUpHash() -> Bool {
        guard failure == nil, let hash, hash.count < end else { return true }
        let count = min(end - hash.count, BackgroundFile.hashedBytesPerJob)
        do throws(SystemError) {
            let bytes = try read(at: hash.count, count: Int(count))
            guard !bytes.isEmpty else { throw SystemError(code: EIO, operation: "pread") }
            bytes.withUnsafeBytes { hash.update($0) }
        } catch {
            fail(error)
        }
        return hash.count >= end
    }

    /// The hash of all bytes, if it is wanted. Nothing can be written after it.
    public func finishHash() -> [UInt8]? {
        guard let hash, hash.count == end else { return nil }
        return hash.finish()
    }

    /// Closes it. A file that was not opened stays closed.
    func close() {
        opening = nil
        descriptor = nil
    }

    /// A piece: fewer bytes than asked for at its end.
    public func read(at offset: Int64, count: Int) throws(SystemError) -> [UInt8] {
        if let error = open() { throw error }
        guard let fd = descriptor?.raw else { throw SystemError(code: EBADF, operation: "pread") }
        return try FilePiece.read(fd, at: offset, count: count)
    }
}

/// Pieces of open files.
public enum FilePiece {
    /// Reads a piece, as often as it takes: fewer bytes than asked for at the end, none behind it. Blocks as the file system does.
    public static func read(_ fd: Int32, at offset: Int64, count wanted: Int) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { room, filled in
            while filled < wanted {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(room)[filled...])
                let count = pread(fd, rest.baseAddress, rest.count, off_t(offset) + filled)
                if count < 0, errno == EINTR { continue }
                if count < 0 { failure = .last("pread") }
                guard count > 0 else { break }
                filled += count
            }
        }
        if let failure { throw failure }
        return bytes
    }
}
