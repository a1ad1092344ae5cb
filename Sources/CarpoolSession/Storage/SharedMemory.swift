/// An account of memory that several owners share.
public protocol SharedMemory: AnyObject {
    /// Counts so many bytes for the owner, in place of what was counted before. Returns `false` if there is no room.
    func count(_ bytes: Int, for owner: any SharedMemoryOwner) -> Bool
}

/// What uses memory of an account, and can do with less.
public protocol SharedMemoryOwner: AnyObject {
    /// Removes the half that was not used for the longest time.
    func removeHalf()
}
