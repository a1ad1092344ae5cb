package import CarpoolSystem

/// A body that is read while it is sent.
package final class StreamedBody {
    private let descriptor: FileDescriptor
    private let name: String
    private var buffer = [UInt8](repeating: 0, count: StreamedBody.pieceBytes)

    /// The size of a piece: large enough to keep the transfer busy, small enough not to delay other clients.
    private static let pieceBytes = 65_536

    init(_ descriptor: consuming FileDescriptor, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Waits for the next piece and returns it; `nil` at the end. ETIME when the limit of ``NamedPath`` has passed.
    package func nextPiece() throws(SystemError) -> ArraySlice<UInt8>? {
        let count = try NamedPath.read(descriptor.raw, into: &buffer, of: name)
        return count > 0 ? buffer[..<count] : nil
    }
}
