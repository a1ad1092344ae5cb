internal import CLinux
internal import Glibc

/// Reads pipes that other processes have passed, without waiting for bytes and without changing their mode: whether a
/// pipe blocks belongs to its open file description, which the caller shares, and opening it again by /proc would use
/// this process's rights instead of the caller's.
final class PipeReader {
    /// A private pipe to which bytes are spliced on kernels that cannot read without waiting (before Linux 6.4).
    private var spare: (read: Int32, write: Int32) = (-1, -1)
    private let alwaysSplices: Bool

    /// Makes a reader of one pipe.
    init(alwaysSplices: Bool = false) { self.alwaysSplices = alwaysSplices }

    deinit {
        guard spare.read >= 0 else { return }
        close(spare.read)
        close(spare.write)
    }

    /// Reads once.
    func read(_ fd: Int32, into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
        if spare.read < 0, !alwaysSplices {
            let result = Bytes.result(
                of: { CLinux_read_pipe(fd, buffer.baseAddress, buffer.count) }, zero: .endOfFile)
            guard case .failed(EOPNOTSUPP) = result else { return result }
        }
        if spare.read < 0 {
            var ends: [Int32] = [-1, -1]
            guard CLinux_pipe(&ends) == 0 else { return .failed(errno) }
            spare = (ends[0], ends[1])
        }
        return Bytes.result(
            of: { [spare] in CLinux_splice_pipe(fd, buffer.baseAddress, buffer.count, spare.read, spare.write) },
            zero: .endOfFile)
    }
}
