internal import CarpoolSystem
internal import Glibc

/// Why a body could not be read.
enum BodyReadError: Error, Sendable, Equatable {
    /// The file is not there, or was never whole: as if nothing were stored.
    case missing
    /// The bytes are not those that were stored.
    case corrupt
    /// Too many jobs wait.
    case busy
    /// The disk failed, for this reason.
    case failed(String)
}

/// A body file while it is read: its bytes are compared with the checksum, those of small bodies before the first is
/// passed on, those of others when the last has been read.
///
/// `@unchecked Sendable` because the jobs that use it run in order, one at a time (``WorkerQueue``).
final class OpenBody: @unchecked Sendable {
    private let file: StoredBodyFile
    private let files: BodyFiles
    private let verified: VerifiedBodies
    private let closer: WorkerFile.Closer
    private var opened: WorkerFile?
    /// All bytes of a small body.
    private var content: [UInt8]?
    /// The checksum of the bytes from the first up to the position.
    private var checksum = CRC32C()
    private var position = 0

    /// A body of up to this many bytes is read whole.
    static let wholeBytes = 1_048_576
    /// The bytes of a read.
    static let pieceBytes = 262_144

    init(_ file: StoredBodyFile, in files: BodyFiles, verified: VerifiedBodies, closer: WorkerFile.Closer) {
        self.file = file
        self.files = files
        self.verified = verified
        self.closer = closer
    }

    /// Reads a piece; empty at the end.
    func read(from offset: Int, atMost limit: Int) -> Result<[UInt8], BodyReadError> {
        do throws(BodyReadError) {
            let descriptor = try open()
            let end = min(file.length, offset + min(limit, OpenBody.pieceBytes))
            guard offset >= 0, offset < end else { return .success([]) }
            if file.length <= OpenBody.wholeBytes {
                let bytes = try whole(descriptor)
                return .success(offset == 0 && end == bytes.count ? bytes : Array(bytes[offset..<end]))
            }
            return .success(try piece(descriptor, offset..<end))
        } catch {
            return .failure(error)
        }
    }

    /// Makes a link to the file, after its bytes were compared; `false` if that is not possible there.
    func link(to path: String) -> Result<Bool, BodyReadError> {
        do throws(BodyReadError) {
            let descriptor = try open()
            try verify(descriptor)
            let opened = "/proc/self/fd/\(descriptor)"
            return .success(linkat(AT_FDCWD, opened, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)
        } catch {
            return .failure(error)
        }
    }

    private func open() throws(BodyReadError) -> Int32 {
        if let opened { return opened.raw }
        let file: WorkerFile
        do throws(SystemError) {
            file = WorkerFile(try files.open(self.file), closer: closer)
        } catch {
            if error.code == ENOENT || error.code == ELOOP { throw .missing }
            throw .failed(error.description)
        }
        var status = stat()
        guard fstat(file.raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            Int(status.st_size) == self.file.length
        else { throw .missing }
        opened = file
        return file.raw
    }

    private func whole(_ descriptor: Int32) throws(BodyReadError) -> [UInt8] {
        if let content { return content }
        let bytes = try read(descriptor, 0..<file.length)
        guard CRC32C.value(of: bytes) == file.checksum else { throw .corrupt }
        verified.insert(file.id, descriptor)
        content = bytes
        return bytes
    }

    private func piece(_ descriptor: Int32, _ range: Range<Int>) throws(BodyReadError) -> [UInt8] {
        // Bytes out of order are passed on only if all were compared.
        if range.lowerBound != position { try verify(descriptor) }
        let bytes = try read(descriptor, range)
        guard range.lowerBound == position else { return bytes }
        bytes.withUnsafeBytes { checksum.update($0) }
        position = range.upperBound
        guard position == file.length else { return bytes }
        guard checksum.value == file.checksum else { throw .corrupt }
        verified.insert(file.id, descriptor)
        return bytes
    }

    private func verify(_ descriptor: Int32) throws(BodyReadError) {
        if verified.contains(file.id, descriptor) { return }
        var checksum = CRC32C()
        for start in stride(from: 0, to: file.length, by: OpenBody.pieceBytes) {
            let bytes = try read(descriptor, start..<min(file.length, start + OpenBody.pieceBytes))
            bytes.withUnsafeBytes { checksum.update($0) }
        }
        guard checksum.value == file.checksum else { throw .corrupt }
        verified.insert(file.id, descriptor)
    }

    private func read(_ descriptor: Int32, _ range: Range<Int>) throws(BodyReadError) -> [UInt8] {
        var failure: BodyReadError?
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { room, filled in
            while filled < range.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(room)[filled...])
                let count = pread(descriptor, rest.baseAddress, range.count - filled, range.lowerBound + filled)
                if count < 0, errno == EINTR { continue }
                if count < 0 { failure = .failed(SystemError.last("pread").description) }
                guard count > 0 else { break }
                filled += count
            }
        }
        if let failure { throw failure }
        // It was longer when it was opened.
        guard bytes.count == range.count else { throw .corrupt }
        return bytes
    }
}
