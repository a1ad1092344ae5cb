public import CarpoolHTTP

/// The size of a store and what it has done.
public struct CacheStoreStatistics: Sendable {
    /// The store.
    public let name: CacheStoreName
    /// The stored responses.
    public let entries: Int
    /// The bytes of those in memory.
    public let memoryBytes: Int
    /// The bytes of those on disk.
    public let diskBytes: Int
    /// Why nothing is stored on disk at the moment; `nil` if something is, or the store is in memory alone.
    public let diskFault: String?
    /// What was counted.
    public let counters: CacheCounters
}
