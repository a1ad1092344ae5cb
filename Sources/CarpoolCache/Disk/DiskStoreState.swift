/// The state of a disk store.
enum DiskStoreState: Sendable, Equatable {
    /// It has not been opened.
    case idle
    /// A job opens it.
    case opening
    /// It is open.
    case ready
    /// Another process has it; this one keeps responses in memory alone.
    case inUse
    /// It has failed, for this reason, and is tried again later.
    case off(String)
    /// It was closed.
    case closed
}

/// What a disk store has to report.
enum DiskStoreEvent: Sendable, Equatable {
    /// A failure has turned it off for a while. At most one in a minute.
    case failed(String)
    /// Its index was damaged, for this reason; a new one was begun.
    case indexReplaced(String)
    /// Entries were removed because they were damaged.
    case damaged(Int)
    /// Entries were removed to make room.
    case evicted(Int)
}

/// What a disk store has counted.
struct DiskStoreCounters: Sendable, Equatable {
    /// Entries that were written.
    var saved = 0
    /// Entries that were not written because too many jobs waited.
    var refused = 0
    /// Entries that were not written because of a failure.
    var failed = 0
    /// Look-ups of keys.
    var loads = 0
    /// Entries that were removed to make room.
    var evicted = 0
    /// Entries that were removed because they were damaged.
    var damaged = 0
}
