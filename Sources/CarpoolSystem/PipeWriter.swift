internal import CLinux
internal import Glibc

/// Writes to pipes that other processes have passed, without waiting for room and without changing their mode, as
/// ``PipeReader`` reads them.
final class PipeWriter {
    private var spare: SparePipe?
    /// How many bytes are in the private pipe: the first of those that the next call passes.
    private var spareCount = 0
    private let alwaysSplices: Bool

    /// Makes a writer of one pipe.
    init(alwaysSplices: Bool = false) { self.alwaysSplices = alwaysSplices }

    /// Writes once. The next call passes the bytes that follow those that were written.
    func write(_ fd: Int32, _ buffer: UnsafeRawBufferPointer) -> IOResult {
        if spare == nil, !alwaysSplices {
            let result = Bytes.result(
                of: { CLinux_write_pipe(fd, buffer.baseAddress, buffer.count) }, zero: .wouldBlock)
            guard case .failed(EOPNOTSUPP) = result else { return result }
        }
        guard let spare = spare ?? SparePipe() else { return .failed(errno) }
        self.spare = spare
        if spareCount == 0 {
            switch Bytes.write(spare.write, buffer) {
            case .bytes(let count): spareCount = count
            case let result: return result
            }
        }
        let result = Bytes.result(
            of: { [spareCount] in CLinux_splice_to_pipe(spare.read, fd, spareCount) }, zero: .wouldBlock)
        if case .bytes(let count) = result { spareCount -= count }
        return result
    }
}
