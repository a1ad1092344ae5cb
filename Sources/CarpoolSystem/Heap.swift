internal import CLinux

/// The memory that the allocator has taken from the system.
public enum Heap {
    /// Less than this is kept for what comes.
    private static let keptBytes = 2_097_152

    /// What is at least so large goes back to the system as soon as it is freed.
    private static let largeBytes: Int32 = 1_048_576

    /// Fixes the size from which freed memory returns to the system at once, for all threads. The allocator would raise it to the size of the
    /// largest block that was freed, up to 32 MiB, and each thread's heap would keep twice as much: ``giveBack()`` does not reach its end. An
    /// allocator that refuses (AddressSanitizer's) keeps its own rules.
    public static func returnLargeMemory() { _ = CLinux_return_large_memory(largeBytes) }

    /// Gives back what is free, if it is worth it: the allocator keeps what a burst has taken. It takes some milliseconds for 100 MiB.
    public static func giveBack() { CLinux_give_back_memory(keptBytes) }
}
