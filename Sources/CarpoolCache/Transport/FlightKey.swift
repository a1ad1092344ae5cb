/// A key of one store.
struct StoreKey: Hashable {
    let store: ObjectIdentifier
    let key: CacheKey

    init(_ store: ResponseStore, _ key: CacheKey) {
        self.store = ObjectIdentifier(store)
        self.key = key
    }
}

/// What identical requests have in common (HX-02): the store, the key, and everything that selects among its responses.
struct FlightKey: Hashable {
    let key: StoreKey
    let signature: [UInt8]
}
