internal import CLinux

/// The memory that the allocator has taken from the system.
public enum Heap {
    /// Less free memory than this is kept for reuse.
    private static let keptBytes = 2_097_152

    /// Allocations of at least this size are returned to the system as soon as they are freed.
    private static let largeBytes: Int32 = 1_048_576

    /// Fixes the size from which freed memory returns to the system at once, for all threads. The allocator would
    /// raise it to the size of the largest block that was freed, up to 32 MiB, and each thread's heap would keep
    /// twice as much: ``trim()`` does not reach its end. An allocator that refuses (AddressSanitizer's) keeps its
    /// own rules.
    public static func returnLargeMemory() { _ = CLinux_return_large_memory(largeBytes) }

    /// Returns free memory to the system if there is enough of it: the allocator keeps the memory of a burst. It
    /// takes some milliseconds for 100 MiB.
    public static func trim() { CLinux_trim_memory(keptBytes) }

    /// Returns free memory of the calling thread's own heap to the system, which ``trim()`` does not reach.
    static func trimOfThread() { CLinux_trim_heap_of_thread() }
}
