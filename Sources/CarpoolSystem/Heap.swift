internal import CLinux

/// The memory that the allocator has taken from the system.
public enum Heap {
    /// Less than this is kept for what comes.
    private static let keptBytes = 2_097_152

    /// Gives back what is free, if it is worth it: the allocator keeps what a burst has taken. It takes some milliseconds for 100 MiB.
    public static func giveBack() { CLinux_give_back_memory(keptBytes) }
}
