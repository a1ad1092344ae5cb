/// The responses of one store that are in memory, by key.
final class MemoryStore {
    /// The user whose store it is.
    let user: UInt32?
    private let ledger: MemoryLedger
    /// Called with each record that is evicted.
    var onEviction: (MemoryRecord) -> Void = { _ in }
    private(set) var records: [CacheKey: MemoryRecord] = [:]
    private(set) var entryCount = 0
    /// The bytes of all records, counted by the ledger.
    var bytes = 0

    init(user: UInt32?, ledger: MemoryLedger) {
        self.user = user
        self.ledger = ledger
    }

    /// The responses under a key, the newest first; `nil` if there is no record.
    func entries(under key: CacheKey) -> [CacheEntry]? {
        guard let record = records[key] else { return nil }
        ledger.touch(record)
        return record.entries
    }

    /// Replaces the responses under a key. Without any, the record is removed.
    func set(_ entries: [CacheEntry], under key: CacheKey) {
        if let record = records[key] {
            entryCount &+= entries.count &- record.entries.count
            record.entries = entries
            guard !entries.isEmpty else {
                records[key] = nil
                return ledger.remove(record)
            }
            ledger.touch(record)
            ledger.recount(record)
        } else if !entries.isEmpty {
            let record = MemoryRecord(key: key, store: self, entries: entries)
            records[key] = record
            entryCount &+= entries.count
            ledger.add(record)
        }
    }

    /// Removes a record, such as one that the ledger evicts.
    func forget(_ record: MemoryRecord) {
        guard records[record.key] === record else { return }
        records[record.key] = nil
        entryCount &-= record.entries.count
        ledger.remove(record)
    }

    /// Removes all records.
    func removeAll() {
        for record in Array(records.values) { forget(record) }
    }

    /// The responses that are on no disk.
    var memoryOnlyCount: Int {
        records.values.reduce(0) { $0 &+ $1.entries.count { !$0.isOnDisk } }
    }

    /// Counts the record of a key again, because an entry of it has changed.
    func recount(_ key: CacheKey) {
        if let record = records[key] { ledger.recount(record) }
    }
}
