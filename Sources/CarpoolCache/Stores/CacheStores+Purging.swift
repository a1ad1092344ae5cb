public import CarpoolHTTP
internal import CarpoolSystem

// Removing stored responses on request.
extension CacheStores {
    /// What a purge does with a response.
    public enum Purge: Sendable {
        /// It is removed.
        case remove
        /// It stays, and is used after validation alone.
        case markStale
    }

    /// Purges responses of a user's stores, or of one of them, and passes on how many.
    public func purge(
        of user: UInt32?, _ name: CacheStoreName?, _ filter: StoreFilter, _ purge: Purge,
        then: @escaping (Int) -> Void
    ) {
        let wanted = all(of: user).filter { name == nil || $0.name == name }
        var left = wanted.count
        var count = 0
        guard left > 0 else { return then(0) }
        for store in wanted {
            self.purge(store, filter, purge) { purged in
                count += purged
                left -= 1
                if left == 0 { then(count) }
            }
        }
    }

    /// Removes the responses of an origin from a store, such as after `Clear-Site-Data` (HI-03), unless that is under
    /// way.
    /// - Parameter partition: removes only those of it, which are in memory; `nil` for all.
    func purge(_ store: ResponseStore, of origin: Origin, only partition: ConnectionPartition?) {
        let text = HTTPURL.normalText(of: origin)
        guard partition == nil else { return purgeMemory(store, of: text, only: partition) }
        guard store.clearing.insert(text).inserted else { return }
        var filter = StoreFilter()
        filter.origin = text
        purge(store, filter, .remove, .clearSiteData) { _ in store.clearing.remove(text) }
    }

    private func purgeMemory(_ store: ResponseStore, of origin: String, only partition: ConnectionPartition?) {
        var filter = StoreFilter()
        filter.origin = origin
        let work = Slices.forEach(of: Array(store.memory.records.values)) { record in
            guard record.key.partition == partition, filter.matches(record.key.url) else { return }
            store.forgetInMemory(record.entries, under: record.key)
        }
        if work.runSlice() { loop.runInSlices(work) }
    }

    /// On disk first, since what is loaded from there meanwhile is in memory before the answer, and then in memory.
    private func purge(
        _ store: ResponseStore, _ filter: StoreFilter, _ purge: Purge, _ cause: CacheEvent.Cause = .purge,
        then: @escaping (Int) -> Void
    ) {
        store.beginPurge(filter)
        let now = CacheTime.now()
        guard let disk = store.disk else { return purgeMemory(store, filter, purge, now, cause, onDisk: 0, then: then) }
        disk.purge(filter.onDisk(at: now), isSoft: purge == .markStale) { [self] onDisk in
            purgeMemory(store, filter, purge, now, cause, onDisk: onDisk, then: then)
        }
    }

    /// In slices.
    /// - Parameter onDisk: how many were purged there; `nil` if the disk cannot be written now.
    private func purgeMemory(
        _ store: ResponseStore, _ filter: StoreFilter, _ purge: Purge, _ now: CacheTime, _ cause: CacheEvent.Cause,
        onDisk: Int?, then: @escaping (Int) -> Void
    ) {
        store.beginPurge(filter)
        var count = onDisk ?? 0
        let work = Slices.forEach(of: Array(store.memory.records.values)) { record in
            let found = record.entries.filter { filter.matches(record.key.url, stored: $0.response.received, now: now) }
            guard !found.isEmpty else { return }
            count += found.count { onDisk == nil || !$0.isOnDisk }
            switch purge {
            case .remove: store.forgetInMemory(found, under: record.key)
            case .markStale: for entry in found { entry.response.isInvalidated = true }
            }
        } completion: {
            store.didPurge(count, cause)
            then(count)
        }
        loop.runInSlices(work)
    }
}
