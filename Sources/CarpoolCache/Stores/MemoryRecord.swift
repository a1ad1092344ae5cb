/// All responses to requests for one key, in memory. Memory has all of them or none: a look-up that finds the record
/// needs no disk.
final class MemoryRecord {
    let key: CacheKey
    /// The store that has it; it outlives its records.
    unowned let store: MemoryStore
    /// The responses, the newest first.
    var entries: [CacheEntry]
    /// The bytes that the ledger has counted.
    var countedBytes = 0
    /// Its neighbours in the list of its user, from the last used to the first. Not retained: the store's table does.
    unowned(unsafe) var newer: MemoryRecord?
    unowned(unsafe) var older: MemoryRecord?

    /// About how many bytes a record takes besides its entries.
    private static let overhead = 192

    init(key: CacheKey, store: MemoryStore, entries: [CacheEntry]) {
        self.key = key
        self.store = store
        self.entries = entries
    }

    var memoryBytes: Int {
        entries.reduce(MemoryRecord.overhead &+ 2 &* key.url.utf8.count) { $0 &+ $1.memoryBytes }
    }
}
