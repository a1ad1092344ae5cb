internal import CarpoolSystem
internal import Glibc

/// A piece of a small form, as the job that assembles the form gets it.
enum BodyPiece: Sendable {
    case bytes([UInt8])
    case file(WorkerFile, path: String?, offset: Int64, length: Int64)

    var isFile: Bool {
        if case .file = self { true } else { false }
    }

    private var length: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .file(_, _, _, let length): Int(clamping: length)
        }
    }

    /// All bytes of all pieces. Reads files: for a thread of a ``Worker``.
    static func contents(of pieces: [BodyPiece]) -> Result<[UInt8], SessionError> {
        var failure: SessionError?
        let length = pieces.reduce(0) { $0 + $1.length }
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            let room = UnsafeMutableRawBufferPointer(buffer)
            for piece in pieces where failure == nil {
                let part = UnsafeMutableRawBufferPointer(rebasing: room[count..<count + piece.length])
                failure = piece.copy(to: part)
                if failure == nil { count += piece.length }
            }
        }
        return failure.map { .failure($0) } ?? .success(bytes)
    }

    private func copy(to room: UnsafeMutableRawBufferPointer) -> SessionError? {
        switch self {
        case .bytes(let bytes):
            room.copyBytes(from: bytes)
            return nil
        case .file(let file, let path, let offset, let length):
            var count = 0
            while count < room.count {
                let read = pread(
                    file.raw, room.baseAddress.map { $0 + count }, room.count - count, off_t(offset) + count)
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { return .multipartLength(expected: length, read: Int64(count), path) }
                count += read
            }
            return nil
        }
    }
}
