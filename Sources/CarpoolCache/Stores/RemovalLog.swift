/// What was removed from a store or made invalid lately, so that a fetch under way learns whether its response is older
/// than that.
struct RemovalLog {
    private struct Removal {
        let number: Int
        let filter: StoreFilter
        let isPurge: Bool
    }

    private var removals: [Removal] = []
    /// The number of the last one.
    private(set) var last = 0
    /// The number of the last one that is no longer known.
    private var forgotten = 0

    /// The most that are known. A fetch that began before those counts as removed.
    private static let maximumCount = 256

    /// Notes that responses were removed, or made invalid by a request that may have changed them.
    mutating func note(_ filter: StoreFilter, isPurge: Bool) {
        last += 1
        if removals.count >= RemovalLog.maximumCount {
            let surplus = RemovalLog.maximumCount / 2
            forgotten = removals[surplus - 1].number
            removals.removeFirst(surplus)
        }
        removals.append(Removal(number: last, filter: filter, isPurge: isPurge))
    }

    /// Whether a URL was concerned after a number.
    /// - Parameter purgesOnly: whether those that only made responses invalid are left out.
    func concerns(_ url: String, since number: Int, purgesOnly: Bool = false) -> Bool {
        guard last > number else { return false }
        if forgotten > number { return true }
        return removals.contains {
            $0.number > number && ($0.isPurge || !purgesOnly) && $0.filter.matches(url)
        }
    }
}
