internal import Glibc

/// Whole pages of memory, which are returned to the system when the last reference is released, independent of the
/// allocator.
public final class PageMemory {
    /// The memory; zero at first.
    public let bytes: UnsafeMutableRawBufferPointer

    /// Whether the memory is mapped pages. If the system refuses to map them, it is the allocator's.
    private let isMapped: Bool

    /// Allocates at least this many bytes.
    public init(byteCount: Int) {
        let count = max(1, byteCount)
        let pages = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        isMapped = pages != MAP_FAILED
        guard isMapped else {
            bytes = .allocate(byteCount: count, alignment: 16)
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            return
        }
        bytes = UnsafeMutableRawBufferPointer(start: pages, count: count)
    }

    deinit {
        guard isMapped else { return bytes.deallocate() }
        munmap(bytes.baseAddress, bytes.count)
    }
}
