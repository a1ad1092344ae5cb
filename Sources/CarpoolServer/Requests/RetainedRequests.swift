internal import CarpoolSession

/// The finished requests that are kept for `request.get`, with what each takes of the memory, by user.
///
/// A user has bounds of its own, in requests and in bytes. Where all users together have too many, the user with the
/// most loses some. So no user's results go because of another's, unless it holds the most itself.
struct RetainedRequests {
    /// The kept requests of one user, in the order in which they ended. A class, so that a change copies nothing.
    private final class Share {
        var entries = OrderedEntries<RequestEntry>()
        var bytes = 0
        /// Whether some of them are being evicted in slices.
        var isEvicting = false
    }

    private var users: [UInt32: Share] = [:]
    private var lastPlace = 0
    /// How many are kept.
    private(set) var count = 0
    /// Memory that they use.
    private(set) var bytes = 0

    /// Maximum dismissed at once: each costs some microseconds.
    static let mostAtOnce = 64
    /// One 64th of the limit of bytes is freed at once, as far as ``mostAtOnce`` requests make it up, so that not each
    /// end causes a search.
    private static let usualPartOfBytes = 64
    /// Users that are kept though they have none.
    private static let keptUsers = 64

    /// How many of a user are kept.
    func count(of uid: UInt32) -> Int { users[uid]?.entries.count ?? 0 }

    /// Memory of a user's kept requests.
    func bytes(of uid: UInt32) -> Int { users[uid]?.bytes ?? 0 }

    /// Adds a finished request; returns its place.
    mutating func insert(_ entry: RequestEntry) -> Int {
        lastPlace += 1
        let share = users[entry.client.uid] ?? Share()
        users[entry.client.uid] = share
        share.entries.insert(entry, at: lastPlace)
        share.bytes &+= entry.retainedBytes
        bytes &+= entry.retainedBytes
        count += 1
        return lastPlace
    }

    mutating func remove(_ entry: RequestEntry, at place: Int) {
        guard let share = users[entry.client.uid] else { return }
        share.entries.remove(place)
        share.bytes &-= entry.retainedBytes
        bytes &-= entry.retainedBytes
        count -= 1
        if share.entries.isEmpty, users.count > RetainedRequests.keptUsers { users[entry.client.uid] = nil }
    }

    /// Releases memory that the lists do not need.
    mutating func shrink() {
        for share in users.values { share.entries.shrink() }
    }

    /// Those that ended up to a time, up to a number.
    func ended(upTo time: Int64, atMost maximum: Int) -> [RequestEntry] {
        var found: [RequestEntry] = []
        for share in users.values {
            share.entries.read(after: 0) { _, entry in
                guard found.count < maximum, (entry.finished ?? .max) <= time else { return false }
                found.append(entry)
                return true
            }
        }
        return found
    }

    // MARK: Too many

    /// The excess over the limits, plus a tenth of the requests or a part of the bytes, so that the search is not
    /// repeated for every request.
    private struct Surplus {
        var requests = 0
        var bytes = 0
        /// The part of each that is within the bounds.
        private var spareRequests = 0
        private var spareBytes = 0

        var isNone: Bool { requests <= 0 && bytes <= 0 }

        /// Whether there is still something beyond the bounds.
        var isBeyond: Bool { requests > spareRequests || bytes > spareBytes }

        init(_ count: Int, of mostRequests: Int, _ bytes: Int, of mostBytes: Int) {
            if count > mostRequests {
                let surplus = count &- mostRequests
                requests = max(surplus, min(RetainedRequests.mostAtOnce, surplus &+ mostRequests / 10))
                spareRequests = requests &- surplus
            }
            if bytes > mostBytes {
                spareBytes = mostBytes / RetainedRequests.usualPartOfBytes
                self.bytes = bytes &- mostBytes &+ spareBytes
            }
        }

        /// The requests alone, if there are too many.
        mutating func takeRequestsFirst() {
            if requests > 0 { (bytes, spareBytes) = (0, 0) }
        }

        mutating func subtract(_ entry: RequestEntry) {
            requests -= 1
            bytes &-= entry.retainedBytes
        }
    }

    /// The requests to dismiss when a request of a user has ended: of that user if it exceeds its limits, else of the
    /// user with the most if all exceed theirs. There may be more when these are removed.
    func surplus(after uid: UInt32, _ bounds: RetentionBounds) -> [RequestEntry] {
        if let share = users[uid] {
            let own = Surplus(share.entries.count, of: bounds.requestsOfUser, share.bytes, of: bounds.bytesOfUser)
            if !own.isNone { return leastWorth(of: share, own) }
        }
        var all = Surplus(count, of: bounds.requests, bytes, of: bounds.bytes)
        guard !all.isNone else { return [] }
        // The user with most bytes may have few requests, and the one with most requests few bytes.
        all.takeRequestsFirst()
        let most =
            all.requests > 0
            ? users.values.max { $0.entries.count < $1.entries.count } : users.values.max { $0.bytes < $1.bytes }
        return most.map { leastWorth(of: $0, all) } ?? []
    }

    /// Notes that requests of a user are dismissed in slices. Returns whether they were not already.
    func beginEvicting(_ uid: UInt32) -> Bool {
        guard let share = users[uid] else { return true }
        guard !share.isEvicting else { return false }
        share.isEvicting = true
        return true
    }

    /// Notes that no more requests of a user are dismissed.
    func endEvicting(_ uid: UInt32) { users[uid]?.isEvicting = false }

    /// The requests to dismiss first: those that were read or succeeded before failures that no client has seen, then
    /// by age. The newest goes last: its client has had no time to read it.
    private func leastWorth(of share: Share, _ surplus: Surplus) -> [RequestEntry] {
        var (first, last): ([RequestEntry], [RequestEntry]) = ([], [])
        var (restOfFirst, restOfLast) = (surplus, surplus)
        var newest: RequestEntry?
        share.entries.read(after: 0) { place, entry in
            guard place != lastPlace else {
                newest = entry
                return true
            }
            if entry.isRead || entry.request.error == nil {
                first.append(entry)
                restOfFirst.subtract(entry)
            } else if !restOfLast.isNone {
                last.append(entry)
                restOfLast.subtract(entry)
            }
            return !restOfFirst.isNone && first.count < RetainedRequests.mostAtOnce
        }
        var (rest, found) = (surplus, [RequestEntry]())
        for entry in first + last {
            guard !rest.isNone, found.count < RetainedRequests.mostAtOnce else { return found }
            found.append(entry)
            rest.subtract(entry)
        }
        if let newest, rest.isBeyond, found.count < RetainedRequests.mostAtOnce { found.append(newest) }
        return found
    }
}
