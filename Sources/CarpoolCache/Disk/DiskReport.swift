/// What a job on the disk store reports to the loop.
struct DiskReport<Value: Sendable>: Sendable {
    let result: Result<Value, DiskError>
    /// The size of the store; `nil` if it is not open.
    var totals: DiskTotals?
    /// Whether rows wait to be committed.
    var hasOpenTransaction = false
    /// The hashes of keys that have no row any more.
    var gone: [UInt64] = []
    /// Removals that have to be done again, because their transaction was lost.
    var lost: [DiskRemoval] = []

    init(_ result: Result<Value, DiskError>) { self.result = result }
}

/// The size of a disk store.
struct DiskTotals: Sendable, Equatable {
    var entries = 0
    /// The bytes of all entries, their files included.
    var bytes = 0
}

/// A use of an entry, to be noted in its row.
struct DiskUse: Sendable {
    let id: Int64
    let time: Int64
    let hits: Int
}

/// An entry that was written.
struct DiskSaved: Sendable {
    /// Its body file; `nil` if the body is in the row.
    let file: StoredBodyFile?
}
