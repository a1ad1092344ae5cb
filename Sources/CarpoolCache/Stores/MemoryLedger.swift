/// The memory of all stores: one maximum for the process, divided among users. Each user has the records of all its
/// stores in one list by their last use.
///
/// When the maximum is exceeded, the user with the most bytes loses its least recently used records. So a user who
/// stores little loses nothing to one who stores much.
final class MemoryLedger {
    /// The list of a user.
    private final class UserList {
        var bytes = 0
        // Retained, although the stores' tables do it too: with unowned(unsafe) here Swift 6.3 loses an assignment of
        // nil.
        var newest: MemoryRecord?
        var oldest: MemoryRecord?
    }

    /// The most bytes of all records; 0 stores nothing.
    let maximumBytes: Int
    private(set) var bytes = 0
    private var lists: [UInt32?: UserList] = [:]

    /// An entry takes at most this part of the memory, so that one cannot evict all others (HS-01).
    private static let largestPart = 16

    init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

    /// The most bytes of one entry.
    var maximumEntryBytes: Int { maximumBytes / MemoryLedger.largestPart }

    /// The bytes of a user.
    func bytes(of user: UInt32?) -> Int { lists[user]?.bytes ?? 0 }

    /// Adds a record as the last used one.
    func add(_ record: MemoryRecord) {
        let user = record.store.user
        let list = lists[user] ?? UserList()
        lists[user] = list
        link(record, in: list)
        recount(record)
    }

    /// Marks a record as the last used one.
    func touch(_ record: MemoryRecord) {
        guard let list = lists[record.store.user], list.newest !== record else { return }
        unlink(record, in: list)
        link(record, in: list)
    }

    /// Removes a record.
    func remove(_ record: MemoryRecord) {
        guard let list = lists[record.store.user] else { return }
        unlink(record, in: list)
        count(-record.countedBytes, of: record)
        record.countedBytes = 0
        if list.newest == nil { lists[record.store.user] = nil }
    }

    /// Counts a record again whose entries have changed, and evicts others if there are too many bytes.
    func recount(_ record: MemoryRecord) {
        let now = record.memoryBytes
        count(now &- record.countedBytes, of: record)
        record.countedBytes = now
        while bytes > maximumBytes, let victim = leastRecentlyUsedOfLargest() {
            victim.store.onEviction(victim)
            victim.store.forget(victim)
        }
    }

    private func leastRecentlyUsedOfLargest() -> MemoryRecord? {
        lists.values.max { $0.bytes < $1.bytes }?.oldest
    }

    private func count(_ change: Int, of record: MemoryRecord) {
        bytes &+= change
        lists[record.store.user]?.bytes &+= change
        record.store.bytes &+= change
    }

    private func link(_ record: MemoryRecord, in list: UserList) {
        record.older = list.newest
        list.newest?.newer = record
        list.newest = record
        if list.oldest == nil { list.oldest = record }
    }

    private func unlink(_ record: MemoryRecord, in list: UserList) {
        if list.newest === record { list.newest = record.older }
        if list.oldest === record { list.oldest = record.newer }
        record.newer?.older = record.older
        record.older?.newer = record.newer
        record.newer = nil
        record.older = nil
    }
}
