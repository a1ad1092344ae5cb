package import CarpoolSystem
internal import Glibc

/// Moves a body from the pipe in which the daemon puts it to its output. The kernel moves the bytes where it can, so
/// that they do not go through the process.
package struct PipeMover {
    /// What was taken from the pipe.
    package enum Piece {
        /// So many bytes are in the output.
        case moved(Int)
        /// These bytes are to be written by the caller.
        case bytes([UInt8])
        /// There is nothing now, or nothing more.
        case end
    }

    /// Whether the kernel has refused to move bytes.
    private var isRefused = false
    /// Empty until bytes were read.
    private var scratch: [UInt8] = []

    private static let pieceBytes = 1 << 20
    private static let scratchBytes = 65_536

    package init() {}

    /// Takes what the pipe has, at most so many bytes.
    /// - Parameter output: where the kernel may move them; `nil` if the caller has to see them. A terminal, a file that
    ///   is open for appending and an output that does not wait take none that way.
    package mutating func next(
        from pipe: Int32, to output: Int32?, atMost limit: Int = .max
    ) throws(SystemError) -> Piece {
        if !isRefused, let output {
            switch Bytes.move(min(limit, PipeMover.pieceBytes), fromPipe: pipe, to: output) {
            case .bytes(let count): return .moved(count)
            case .endOfFile: return .end
            case .wouldBlock: isRefused = true
            case .failed(let code) where code == EINVAL || code == EAGAIN: isRefused = true
            // The kernel looks at the output first, even if there is nothing left to move.
            case .failed(EPIPE) where PipeMover.hasEnded(pipe): return .end
            case .failed(let code): throw SystemError(code: code, operation: "splice")
            }
        }
        if scratch.isEmpty { scratch = [UInt8](repeating: 0, count: PipeMover.scratchBytes) }
        let size = min(limit, scratch.count)
        let result = scratch.withUnsafeMutableBytes { buffer in
            Bytes.read(pipe, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<size]))
        }
        guard case .bytes(let count) = result else { return .end }
        return .bytes(Array(scratch[..<count]))
    }

    /// Whether a pipe has no bytes and no writer.
    private static func hasEnded(_ pipe: Int32) -> Bool {
        var entry = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLIN | POLLHUP) == Int16(POLLHUP)
    }
}
