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

    /// Waits for the next piece and returns it; `nil` at the end.
    package func nextPiece() throws(SystemError) -> ArraySlice<UInt8>? {
        while true {
            switch buffer.withUnsafeMutableBytes({ Bytes.read(descriptor.raw, into: $0) }) {
            case .bytes(let count): return buffer[..<count]
            case .endOfFile: return nil
            case .wouldBlock: _ = MonotonicTime(nanoseconds: .max).waitForInput(descriptor.raw)
            case .failed(let code): throw SystemError(code: code, operation: "read", subject: name)
            }
        }
    }
}
