internal import Glibc

/// Whole pages of memory. They go back to the system when nobody holds them any more, whatever the allocator keeps.
public final class PageMemory {
    /// The memory; zero at first.
    public let bytes: UnsafeMutableRawBufferPointer

    /// Whether they are pages. Where the system refuses to map any, the memory is the allocator's.
    private let isMapped: Bool

    /// Takes at least so many bytes.
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
