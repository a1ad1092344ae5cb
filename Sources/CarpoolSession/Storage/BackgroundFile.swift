public import CarpoolSystem
internal import Glibc

/// A file as the jobs of its ``FileWriter`` see it.
///
/// `@unchecked Sendable` because only the jobs of one queue touch it, one at a time and in order.
public final class BackgroundFile: @unchecked Sendable {
    /// Opens the file; returns the error if it cannot.
    public typealias Opening = @Sendable (BackgroundFile) -> SystemError?

    /// Open from the first job that needs it to the last.
    public var descriptor: FileDescriptor?
    /// The size of the file.
    public var end: Int64 = 0
    /// Why it could not be opened or written; nothing is written after a failure.
    public private(set) var failure: SystemError?
    /// Hashes every byte that is written, if the hash was requested.
    var hash: SHA256Hash?
    /// Records what the file holds, if it is a partial file.
    var record: PartialRecordKeeper?
    private var opening: Opening?

    init(_ opening: @escaping Opening) { self.opening = opening }

    /// Opens the file, if no job has before. Returns the error if it cannot be opened or could not be written.
    public func open() -> SystemError? {
        if let opening {
            self.opening = nil
            failure = opening(self)
        }
        return failure
    }

    /// Appends bytes, as many as can be written.
    @discardableResult func write(_ bytes: [UInt8]) -> SystemError? {
        guard open() == nil else { return failure }
        guard let fd = descriptor?.raw else { return fail(SystemError(code: EBADF, operation: "write")) }
        record?.willWrite(to: fd, at: end)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { pwrite(fd, $0.baseAddress, $0.count, off_t(end)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                return fail(count < 0 ? .last("write") : SystemError(code: EIO, operation: "write"))
            }
            // A hash that lacks earlier bytes reads these from the file later.
            if let hash, hash.count == end { rest.prefix(count).withUnsafeBytes { hash.update($0) } }
            if let record { rest.prefix(count).withUnsafeBytes { record.add($0) } }
            end &+= Int64(count)
            rest = rest.dropFirst(count)
        }
        record?.didWrite(to: fd, end: end)
        return nil
    }

    /// Records the failure after which nothing more is written.
    @discardableResult public func fail(_ error: SystemError) -> SystemError {
        failure = failure ?? error
        return error
    }

    /// Starts hashing: bytes written from now on at once, existing ones when there is time.
    func startHash() {
        if hash == nil { hash = SHA256Hash() }
    }

    /// Truncates the file to so many bytes.
    func truncate(to count: Int64) {
        guard open() == nil, let fd = descriptor?.raw, count != end else { return }
        record?.willTruncate(fd, to: count)
        guard ftruncate(fd, off_t(count)) == 0 else {
            fail(.last("ftruncate"))
            return
        }
        end = count
        do throws(SystemError) { try record?.didTruncate(fd, to: count) } catch { fail(error) }
        if let hash, hash.count > count { self.hash = SHA256Hash() }
    }

    /// The bytes that one job hashes: some milliseconds.
    private static let hashedBytesPerJob: Int64 = 4_194_304

    /// Hashes bytes that the hash lacks, up to the limit of one job. Returns whether it lacks none.
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

    /// Returns the hash of all bytes, if it was requested. Nothing can be written after it.
    public func finishHash() -> [UInt8]? {
        guard let hash, hash.count == end else { return nil }
        return hash.finish()
    }

    /// Closes the file. A file that was not opened stays closed.
    func close() {
        opening = nil
        descriptor = nil
    }

    /// Reads a piece: fewer bytes than requested at the end.
    public func read(at offset: Int64, count: Int) throws(SystemError) -> [UInt8] {
        if let error = open() { throw error }
        guard let fd = descriptor?.raw else { throw SystemError(code: EBADF, operation: "pread") }
        return try FilePiece.read(fd, at: offset, count: count)
    }
}

/// Reads pieces of open files.
public enum FilePiece {
    /// Reads a piece with as many calls as needed: fewer bytes than requested at the end, none behind it. Blocks as the
    /// file system does.
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
