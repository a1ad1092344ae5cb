internal import CLinux
internal import Glibc

/// Reads pipes that other processes have passed, without waiting for bytes and without changing their mode: whether a
/// pipe blocks belongs to its open file description, which the caller shares, and opening it again by /proc would use
/// this process's rights instead of the caller's.
final class PipeReader {
    private var spare: SparePipe?
    private let alwaysSplices: Bool

    /// Makes a reader of one pipe.
    init(alwaysSplices: Bool = false) { self.alwaysSplices = alwaysSplices }

    /// Reads once.
    func read(_ fd: Int32, into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        if spare == nil, !alwaysSplices {
            let result = Bytes.result(
                of: { CLinux_read_pipe(fd, buffer.baseAddress, buffer.count) }, zero: .endOfFile)
            guard case .failed(EOPNOTSUPP) = result else { return result }
        }
        guard let spare = spare ?? SparePipe() else { return .failed(errno) }
        self.spare = spare
        return Bytes.result(
            of: { CLinux_splice_pipe(fd, buffer.baseAddress, buffer.count, spare.read, spare.write) },
            zero: .endOfFile)
    }
}
