internal import CarpoolSystem

// Finished requests that are kept, and their eviction when there are too many.
extension RequestService {
    /// Keeps a request for `request.get`, when it is over or from now on.
    func keep(_ entry: RequestEntry) {
        entry.isKept = true
        evict(registry.retain(entry, limits), after: entry)
    }

    /// Dismisses kept requests to make room for another one, and then as many more as the limits require, in slices.
    func evict(_ evicted: [RequestEntry], after entry: RequestEntry) {
        guard !evicted.isEmpty else { return }
        for entry in evicted { dismiss(entry, keepingBody: false) }
        let uid = entry.client.uid
        guard registry.retained.beginEvicting(uid) else { return }
        loop.runInSlices(
            Slices { [unowned self] in
                let rest = registry.surplus(after: uid, limits)
                for entry in rest { dismiss(entry, keepingBody: false) }
                if rest.isEmpty { registry.retained.endEvicting(uid) }
                return !rest.isEmpty
            })
    }

    /// Dismisses requests whose time is over, in slices.
    func dismissExpired(at now: Int64) {
        loop.runInSlices(
            Slices { [unowned self] in
                let gone = registry.expired(at: now, limits)
                for entry in gone { dismiss(entry, keepingBody: false) }
                return !gone.isEmpty
            })
    }

    /// Releases memory that the tables and the cached record use.
    func shrink() {
        registry.shrink()
        recordCache.removeAll()
    }
}
