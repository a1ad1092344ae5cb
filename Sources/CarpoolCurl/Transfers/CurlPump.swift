internal import CarpoolSystem
internal import Glibc

/// Writes the pieces of a body into a pipe, as fast as the daemon reads it.
final class CurlPump {
    enum Piece {
        case bytes([UInt8])
        case file(String)
        /// A descriptor that is read to its end.
        case input(Int32)
    }

    private var pieces: ArraySlice<Piece>
    private var output: FileDescriptor?
    /// The number of the output; -1 when it is closed.
    private var raw: Int32 = -1
    private var pending: ArraySlice<UInt8> = []
    private var input: Int32 = -1
    private var file: CurlOpenFile?
    /// Whether the input is no regular file: it is read when it is ready, because a pipe has no end before its first
    /// writer.
    private var isPolled = false

    private static let chunkBytes = 65_536

    init(_ pieces: [Piece]) { self.pieces = pieces[...] }

    /// Takes the pipe's end, which does not wait from then on.
    func open(_ raw: Int32) {
        _ = fcntl(raw, F_SETFL, fcntl(raw, F_GETFL) | O_NONBLOCK)
        output = FileDescriptor(owning: raw)
        self.raw = raw
    }

    /// Whether everything was written, or the reader has closed its end.
    var isDone: Bool { raw < 0 }

    /// The descriptor to wait for: the source while there is nothing to write, otherwise the pipe.
    var interest: (fd: Int32, isOutput: Bool)? {
        guard raw >= 0 else { return nil }
        return pending.isEmpty && input >= 0 && isPolled ? (input, false) : (raw, true)
    }

    /// Reads and writes once.
    func step() throws(CurlError) {
        if pending.isEmpty, try !fill() { return close() }
        guard raw >= 0, !pending.isEmpty else { return }
        let result = pending.withUnsafeBytes { Glibc.write(raw, $0.baseAddress, $0.count) }
        if result >= 0 {
            pending = pending.dropFirst(result)
        } else if errno != EAGAIN, errno != EINTR {
            close()
        }
    }

    private func close() {
        output = nil
        raw = -1
    }

    /// Gets the next bytes; returns `false` at the end.
    private func fill() throws(CurlError) -> Bool {
        while true {
            if input >= 0 {
                var chunk = [UInt8](repeating: 0, count: CurlPump.chunkBytes)
                switch chunk.withUnsafeMutableBytes({ Bytes.read(input, into: $0) }) {
                case .bytes(let count):
                    pending = chunk[..<count]
                    return true
                case .wouldBlock: return true
                case .endOfFile:
                    input = -1
                    file = nil
                case .failed: throw CurlError(CurlExitCode.readError)
                }
            }
            switch pieces.popFirst() {
            case .bytes(let bytes):
                guard !bytes.isEmpty else { continue }
                pending = bytes[...]
                return true
            case .file(let path):
                guard let opened = try? CurlOpenFile(path) else { throw CurlError(CurlExitCode.readError) }
                file = opened
                input = opened.descriptor.raw
            case .input(let fd): input = fd
            case nil: return false
            }
            isPolled = (try? FileStatus(of: input))?.kind != .regular
            if isPolled { return true }
        }
    }
}
