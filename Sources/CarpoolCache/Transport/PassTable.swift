/// Keys whose responses could not be shared: for a time nobody waits for them (HX-03), so that requests for what
/// cannot be stored form no queue.
struct PassTable {
    private var ends: [StoreKey: Int64] = [:]

    /// How long a key passes.
    static let milliseconds: Int64 = 120_000
    /// The most keys; beyond that all are forgotten, and a round of requests waits once more.
    static let maximumKeys = 1_024

    /// Marks a key.
    mutating func mark(_ key: StoreKey, at now: CacheTime) {
        if ends.count >= PassTable.maximumKeys { ends.removeAll(keepingCapacity: true) }
        ends[key] = (now.uptime ?? now.wall) &+ PassTable.milliseconds
    }

    /// Whether nobody waits for a key.
    mutating func contains(_ key: StoreKey, at now: CacheTime) -> Bool {
        guard let end = ends[key] else { return false }
        if end > now.uptime ?? now.wall { return true }
        ends[key] = nil
        return false
    }

    /// A response of the key could be shared.
    mutating func clear(_ key: StoreKey) {
        if !ends.isEmpty { ends[key] = nil }
    }
}
