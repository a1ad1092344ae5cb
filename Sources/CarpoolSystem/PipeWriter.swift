internal import CLinux
internal import Glibc

/// Writes to pipes that other processes have passed, without waiting for room and without changing their mode, as
/// ``PipeReader`` reads them.
final class PipeWriter {
    /// A private pipe from which bytes are spliced on kernels that cannot write without waiting (before Linux 6.4).
    private var spare: (read: Int32, write: Int32) = (-1, -1)
    /// How many bytes are in the private pipe: the first of those that the next call passes.
    private var spareCount = 0
    private let alwaysSplices: Bool

    /// Makes a writer of one pipe.
    init(alwaysSplices: Bool = false) { self.alwaysSplices = alwaysSplices }

    deinit {
        guard spare.read >= 0 else { return }
        close(spare.read)
        close(spare.write)
    }

    /// Writes once. The next call passes the bytes that follow those that were written.
    func write(_ fd: Int32, _ buffer: UnsafeRawBufferPointer) -> IOResult {
        if spare.read < 0, !alwaysSplices {
            let result = Bytes.result(
                of: { CLinux_write_pipe(fd, buffer.baseAddress, buffer.count) }, zero: .wouldBlock)
            guard case .failed(EOPNOTSUPP) = result else { return result }
        }
        return splice(fd, buffer)
    }

    private func splice(_ fd: Int32, _ buffer: UnsafeRawBufferPointer) -> IOResult {
        if spare.read < 0 {
            var ends: [Int32] = [-1, -1]
            guard CLinux_pipe(&ends) == 0 else { return .failed(errno) }
            spare = (ends[0], ends[1])
        }
        if spareCount == 0 {
            switch Bytes.write(spare.write, buffer) {
            case .bytes(let count): spareCount = count
            case let result: return result
            }
        }
        let result = Bytes.result(
            of: { [spare, spareCount] in CLinux_splice_to_pipe(spare.read, fd, spareCount) }, zero: .wouldBlock)
        if case .bytes(let count) = result { spareCount -= count }
        return result
    }
}
