public import CarpoolHTTP
internal import CarpoolSystem

// What is stored, for those who ask.
extension CacheStores {
    /// The stores of a user by name, or one of them.
    public func statistics(of user: UInt32?, _ name: CacheStoreName? = nil) -> [CacheStoreStatistics] {
        all(of: user).filter { name == nil || $0.name == name }.map(\.statistics)
    }

    /// Passes on up to `limit` responses of a store after one of them, in the order of their numbers.
    public func list(
        _ name: CacheStoreName, _ filter: StoreFilter, after id: Int64, limit: Int,
        then: @escaping ([CachedResponseSummary]) -> Void
    ) {
        guard let store = known(name) else { return then([]) }
        let now = CacheTime.now()
        var found: [CachedResponseSummary] = []
        let work = Slices.forEach(of: Array(store.memory.records.values)) { record in
            for entry in record.entries
            where entry.id > id && filter.matches(record.key.url, stored: entry.response.received, now: now) {
                found.append(store.summary(of: entry, at: now))
            }
            // Only the first ones are wanted, and to sort all of a large store takes long.
            if found.count >= 2 * limit + CacheStores.unsortedRows { found = found.first(limit) }
        } completion: { [self] in
            addFromDisk(store, filter, after: id, limit: limit, to: found.first(limit), now, then: then)
        }
        loop.runInSlices(work)
    }

    /// Adds the responses on disk to those in memory. The disk may find more than the filter wants: then it is asked
    /// again.
    private func addFromDisk(
        _ store: ResponseStore, _ filter: StoreFilter, after id: Int64, limit: Int,
        to found: [CachedResponseSummary], _ now: CacheTime, then: @escaping ([CachedResponseSummary]) -> Void
    ) {
        guard let disk = store.disk else { return then(found) }
        disk.list(filter.onDisk(at: now), after: id, limit: limit) { [self] rows in
            let known = Set(found.map(\.id))
            let others = rows.filter { row in
                !known.contains(row.id) && filter.matches(row.url, stored: row.response.received, now: now)
            }
            let all = (found + others.map { store.summary(of: $0, at: now) }).first(limit)
            // What follows on disk has higher numbers than the last row.
            guard rows.count == limit, let last = rows.last, all.count < limit || last.id < all[limit - 1].id else {
                return then(all)
            }
            addFromDisk(store, filter, after: last.id, limit: limit, to: all, now, then: then)
        }
    }

    /// How many responses are gathered besides those of a page before they are sorted.
    private static let unsortedRows = 256

    /// Passes on what a store would do with a request, and the stored response that it is about.
    public func preview(
        of request: TransportRequest, then: @escaping (CacheAction, CachedResponseSummary?) -> Void
    ) {
        guard let use = request.cache else { return }
        let store = store(for: use)
        // Its key recognises credentials.
        if store.mustOpenFirst, let disk = store.disk {
            return disk.whenOpen { [self] in preview(of: request, then: then) }
        }
        let key = CacheKey(request)
        let known = CacheRequest(
            request, use: use, credentials: store.credentials(of: request, use), hash: store.hash)
        let policy = CachePolicy(settings: use.values.settings)
        store.load(key) { entries in
            let now = CacheTime.now()
            let action = policy.action(for: known, in: entries.map(\.response), at: now)
            then(action, action.index(among: entries.count).map { store.summary(of: entries[$0], at: now) })
        }
    }
}

extension [CachedResponseSummary] {
    /// Those with the lowest numbers, in order.
    fileprivate func first(_ count: Int) -> [CachedResponseSummary] {
        Array(sorted { $0.id < $1.id }.prefix(count))
    }
}

extension CacheAction {
    /// The stored response that the action is about; `nil` if there is none.
    fileprivate func index(among count: Int) -> Int? {
        switch self {
        case .serve(let answer), .serveAndRevalidate(let answer, _): answer.index
        case .revalidate(let forwarding): forwarding.candidates.first
        case .forward, .fail: count > 0 ? 0 : nil
        }
    }
}

extension ResponseStore {
    fileprivate var statistics: CacheStoreStatistics {
        let onDisk = disk?.totals
        // Those on disk are counted there, once they are written.
        let entries = max(memory.entryCount, onDisk.map { $0.entries + memory.memoryOnlyCount } ?? 0)
        return CacheStoreStatistics(
            name: name, entries: entries, memoryBytes: memory.bytes, diskBytes: onDisk?.bytes ?? 0,
            diskFault: disk?.fault, counters: counters)
    }

    fileprivate func summary(of entry: CacheEntry, at now: CacheTime) -> CachedResponseSummary {
        summary(
            entry.id, entry.key.url, entry.response, entry.body.count, entry.isOnDisk, entry.hits, at: now)
    }

    fileprivate func summary(of row: DiskListRow, at now: CacheTime) -> CachedResponseSummary {
        summary(row.id, row.url, row.response, row.length, true, row.hits, at: now)
    }

    private func summary(
        _ id: Int64, _ url: String, _ response: CachedResponse, _ bytes: Int, _ isOnDisk: Bool, _ hits: Int,
        at now: CacheTime
    ) -> CachedResponseSummary {
        let age = CachePolicy(settings: settings).age(of: response, url: url, at: now)
        return CachedResponseSummary(
            id: id, store: name, url: url, response: response, bodyBytes: bytes, isOnDisk: isOnDisk, hits: hits,
            ageMilliseconds: age.age, freshForMilliseconds: age.freshFor)
    }
}

extension StoreFilter {
    /// What the disk looks for: it may find more.
    func onDisk(at now: CacheTime) -> DiskFilter {
        if let url { return .url(url) }
        if let prefix { return .prefix(prefix) }
        if let origin { return .origin(origin) }
        if let age = olderThanMilliseconds { return .receivedBefore(now.wall &- age &+ 1) }
        return .all
    }
}

extension DiskStore {
    /// Why nothing is stored at the moment; `nil` if something is.
    fileprivate var fault: String? {
        switch state {
        case .idle, .opening, .ready, .closed: nil
        case .inUse: "another process uses the store"
        case .off(let reason): reason
        }
    }
}
