internal import CLinux
internal import Glibc

/// A private pipe through which the bytes of a passed pipe are spliced, on kernels that can neither read nor write
/// without waiting (before Linux 6.4). Its ends do not block.
final class SparePipe {
    let read: Int32
    let write: Int32

    /// Makes a pipe; `nil`, with `errno`, if there is none.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard CLinux_pipe(&ends) == 0 else { return nil }
        (read, write) = (ends[0], ends[1])
    }

    deinit {
        close(read)
        close(write)
    }
}
