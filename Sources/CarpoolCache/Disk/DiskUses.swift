internal import CarpoolSystem

/// The uses of entries that are to be written: one of each entry in a minute.
struct DiskUses {
    private var waiting: [Int64: DiskUse] = [:]
    /// The entries whose use was noted in this minute.
    private var noted: Set<Int64> = []
    private var start: MonotonicTime?

    private static let intervalMilliseconds = 60_000
    private static let maximum = 65_536

    var isEmpty: Bool { waiting.isEmpty }

    /// Notes a use, unless that was done a short time ago or too many are noted.
    mutating func note(_ use: DiskUse, at now: MonotonicTime) {
        if start.map({ $0.advanced(milliseconds: DiskUses.intervalMilliseconds) <= now }) ?? true {
            noted = []
            start = now
        }
        guard noted.count < DiskUses.maximum, noted.insert(use.id).inserted else { return }
        waiting[use.id] = use
    }

    /// Removes and returns those that wait.
    mutating func take() -> [DiskUse] {
        defer { waiting = [:] }
        return Array(waiting.values)
    }
}
