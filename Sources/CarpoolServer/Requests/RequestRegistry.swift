internal import CarpoolSession

/// Every request that the daemon knows: active ones, and finished ones that are kept. Bounded by the queue limits and
/// by retention.
struct RequestRegistry {
    private struct Key: Hashable {
        let client: ClientIdentity
        let key: String
    }

    /// By their place in the order, which is the last part of their names.
    private var entries: [Int: RequestEntry] = [:]
    private var keys: [Key: RequestEntry] = [:]
    /// The same in order, of all and of each client.
    private var order = OrderedEntries<RequestEntry>()
    private var byClient: [ClientIdentity: ClientEntries] = [:]
    /// Those that are kept after their end.
    private(set) var retained = RetainedRequests()
    private var underWayQuota = Quota()
    private var memoryQuota = Quota()
    private var sequence = 0
    private(set) var active = 0

    /// How many are known.
    var count: Int { entries.count }

    /// Whether a kept result waits for its client; called only while nothing is running.
    var hasUnreadResults: Bool {
        retained.count > 0 && entries.values.contains { $0.isKept && $0.finished != nil && !$0.isRead }
    }

    /// The request of that name, unless it was dismissed.
    subscript(id: String) -> RequestEntry? {
        guard let entry = known(id), !entry.isDismissed else { return nil }
        return entry
    }

    /// The request of that name, dismissed or not: to find its owner.
    func known(_ id: String) -> RequestEntry? {
        guard let separator = id.lastIndex(of: "_") else { return nil }
        guard let sequence = Int(id[id.index(after: separator)...], radix: 36), let entry = entries[sequence] else {
            return nil
        }
        return entry.request.id == id ? entry : nil
    }

    /// Those that are not over, the latest first: those that wait for a connection end before those whose connection
    /// they would get.
    var underWay: [RequestEntry] { entries.values.filter { $0.finished == nil }.sorted { $0.sequence > $1.sequence } }

    /// The request that the client made under that key.
    func entry(of client: ClientIdentity, key: String) -> RequestEntry? { keys[Key(client: client, key: key)] }

    /// The number of the next request.
    mutating func nextSequence() -> Int {
        sequence += 1
        return sequence
    }

    /// Why a client may not make one more request; `nil` if it may.
    mutating func refusal(of client: ClientIdentity, _ limits: Limits) -> Quota.Refusal? {
        underWayQuota.refusal(of: 1, for: client, limits.queuedRequestBounds)
    }

    /// Why there is no memory for one more request of so many bytes; `nil` if there is.
    mutating func refusal(ofBytes bytes: Int, _ client: ClientIdentity, _ limits: Limits) -> Quota.Refusal? {
        bytes == 0 ? nil : memoryQuota.refusal(of: bytes, for: client, limits.requestBodyBounds)
    }

    mutating func insert(_ entry: RequestEntry) {
        entries[entry.sequence] = entry
        order.insert(entry, at: entry.sequence)
        let siblings = siblings(of: entry.client)
        siblings.entries.insert(entry, at: entry.sequence)
        entry.siblings = siblings
        if let key = entry.key { keys[Key(client: entry.client, key: key)] = entry }
        active += 1
        underWayQuota.take(1, for: entry.client)
        if entry.heldBytes > 0 { memoryQuota.take(entry.heldBytes, for: entry.client) }
    }

    /// Counts the memory that a request uses in addition to that of its call. Returns why there is no room for it; then
    /// nothing has changed.
    mutating func grow(_ entry: RequestEntry, to bytes: Int, _ limits: Limits) -> Quota.Refusal? {
        guard entry.finished == nil else { return nil }
        let more = bytes &- entry.grownBytes
        if more > 0 {
            if let refusal = refusal(ofBytes: more, entry.client, limits) { return refusal }
            memoryQuota.take(more, for: entry.client)
        } else if more < 0 {
            memoryQuota.giveBack(-more, for: entry.client)
        }
        entry.grownBytes = bytes
        return nil
    }

    /// Notes the end of a request. Returns those to dismiss because too many are kept now.
    mutating func finish(_ entry: RequestEntry, at time: Int64, _ limits: Limits) -> [RequestEntry] {
        guard entry.finished == nil else { return [] }
        entry.finished = time
        active -= 1
        underWayQuota.giveBack(1, for: entry.client)
        let bytes = entry.heldBytes &+ entry.grownBytes
        if bytes > 0 { memoryQuota.giveBack(bytes, for: entry.client) }
        entry.grownBytes = 0
        if entry.isDismissed { forget(entry) }
        return retain(entry, limits)
    }

    /// Keeps a finished request from now on, if it is to be kept. Returns those to dismiss because too many are kept
    /// now.
    mutating func retain(_ entry: RequestEntry, _ limits: Limits) -> [RequestEntry] {
        guard entry.finished != nil, !entry.isDismissed, entry.isKept, entry.place == nil else { return [] }
        entry.weigh()
        entry.place = retained.insert(entry)
        return surplus(after: entry.client.uid, limits)
    }

    /// The requests to dismiss because too many are kept, after one of a user was added. There may be more when these
    /// are removed.
    func surplus(after uid: UInt32, _ limits: Limits) -> [RequestEntry] {
        retained.surplus(after: uid, limits.retainedBounds)
    }

    /// Releases memory that the tables have kept from a time when there were more requests.
    mutating func shrink() {
        if entries.capacity > 4 * entries.count + 1_024 { entries = entries.filter { _ in true } }
        if keys.capacity > 4 * keys.count + 1_024 { keys = keys.filter { _ in true } }
        order.shrink()
        retained.shrink()
        for client in byClient.values { client.entries.shrink() }
    }

    /// Removes a request: now if it is over, else at its end.
    mutating func remove(_ entry: RequestEntry) {
        guard !entry.isDismissed else { return }
        entry.isDismissed = true
        if let key = entry.key { keys[Key(client: entry.client, key: key)] = nil }
        if let place = entry.place { retained.remove(entry, at: place) }
        entry.place = nil
        if entry.finished != nil { forget(entry) }
    }

    private mutating func forget(_ entry: RequestEntry) {
        entries[entry.sequence] = nil
        order.remove(entry.sequence)
        guard let siblings = entry.siblings else { return }
        entry.siblings = nil
        siblings.entries.remove(entry.sequence)
        // The lists of a few stay for their next requests.
        if siblings.entries.isEmpty, byClient.count > RequestRegistry.keptLists { byClient[siblings.client] = nil }
    }

    /// Lists of clients that are kept though they are empty.
    private static let keptLists = 64

    private mutating func siblings(of client: ClientIdentity) -> ClientEntries {
        if let known = byClient[client] { return known }
        let new = ClientEntries(client: client)
        byClient[client] = new
        return new
    }

    /// Those whose time is over, up to a number: the first that ended come first.
    func expired(at time: Int64, _ limits: Limits, atMost maximum: Int = 64) -> [RequestEntry] {
        let oldest = time - Int64(limits.retentionMilliseconds) * 1_000
        return retained.ended(upTo: oldest, atMost: maximum)
    }

    /// A page of a list.
    struct Page {
        /// The requests, oldest first.
        var entries: [RequestEntry] = []
        /// The place up to which was searched, if there may be more after it.
        var next: Int?
    }

    /// Requests that are checked for one page: a filter that matches few of many must not block the loop.
    static let looksPerPage = 4_096

    /// Those that satisfy the condition, oldest first, after a place in the order: as many as fit a page.
    /// - Parameter client: whose; nil for all.
    func page(
        of client: ClientIdentity? = nil, after: Int, limit: Int, looks: Int = looksPerPage,
        where condition: (RequestEntry) -> Bool
    ) -> Page {
        var page = Page()
        var (looked, last) = (0, after)
        let list = client.map { byClient[$0]?.entries ?? OrderedEntries<RequestEntry>() } ?? order
        list.read(after: after) { number, entry in
            guard looked < looks else {
                page.next = last
                return false
            }
            looked += 1
            if !entry.isDismissed, condition(entry) {
                guard page.entries.count < limit else {
                    page.next = last
                    return false
                }
                page.entries.append(entry)
            }
            last = number
            return true
        }
        return page
    }
}
