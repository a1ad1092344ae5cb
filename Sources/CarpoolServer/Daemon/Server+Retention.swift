internal import CarpoolSystem

// Finished requests that are kept, and those that go because there are too many.
extension Server {
    /// Keeps a request for `request.get`, when it is over or from now on.
    func keep(_ entry: RequestEntry) {
        entry.isKept = true
        drop(requests.retain(entry, limits), after: entry)
    }

    /// Dismisses requests that must go because another is kept now, and then as many more as have to, in slices.
    func drop(_ surplus: [RequestEntry], after entry: RequestEntry) {
        guard !surplus.isEmpty else { return }
        for entry in surplus { dismiss(entry, keepingBody: false) }
        let uid = entry.client.uid
        guard requests.retained.beginReducing(uid) else { return }
        loop.runInSlices(
            Slices { [unowned self] in
                let rest = requests.surplus(after: uid, limits)
                for entry in rest { dismiss(entry, keepingBody: false) }
                if rest.isEmpty { requests.retained.endReducing(uid) }
                return !rest.isEmpty
            })
    }
}
