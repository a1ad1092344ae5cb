package import CarpoolSystem
internal import Glibc

/// A body that is read while it is sent.
package final class StreamedBody {
    private let descriptor: FileDescriptor
    private let name: String
    private var buffer = [UInt8](repeating: 0, count: StreamedBody.pieceBytes)
    /// The number of its bytes: those of a regular file from its position on. `nil` if it is not known.
    package let lengthBytes: Int64?
    private var readBytes: Int64 = 0

    /// The size of a piece: large enough to keep the transfer busy, small enough not to delay other clients.
    private static let pieceBytes = 65_536

    init(_ descriptor: consuming FileDescriptor, name: String) {
        lengthBytes = StreamedBody.rest(of: descriptor.raw)
        self.descriptor = descriptor
        self.name = name
    }

    private static func rest(of file: Int32) -> Int64? {
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
        let position = Int64(lseek(file, 0, SEEK_CUR))
        guard position >= 0 else { return nil }
        if Int64(info.st_size) > position { return Int64(info.st_size) - position }
        // A file of /proc has the size 0, whatever can be read from it.
        var byte: UInt8 = 0
        return pread(file, &byte, 1, off_t(position)) == 0 ? 0 : nil
    }

    /// Waits until a piece can be read, or the limit of ``NamedPath`` has passed; `false` after the timeout.
    package func waitForInput(milliseconds: Int) -> Bool {
        let deadline = min(NamedPath.limit, MonotonicTime.read().advanced(milliseconds: milliseconds))
        return deadline.waitForInput(descriptor.raw) || NamedPath.isTimeOver
    }

    /// Waits for the next piece and returns it; `nil` at the end. ETIME when the limit of ``NamedPath`` has passed. A
    /// file that grows ends at the length that it had, and one that was cut fails with ENODATA.
    package func nextPiece() throws(SystemError) -> ArraySlice<UInt8>? {
        guard readBytes != lengthBytes else { return nil }
        let count = try NamedPath.read(descriptor.raw, into: &buffer, of: name)
        guard count > 0 else {
            guard lengthBytes == nil else {
                throw SystemError(
                    code: ENODATA, operation: "read", subject: name, advice: "the file was cut while it was sent")
            }
            return nil
        }
        let wanted = lengthBytes.map { min(count, Int(clamping: $0 - readBytes)) } ?? count
        readBytes += Int64(wanted)
        return buffer[..<wanted]
    }
}
