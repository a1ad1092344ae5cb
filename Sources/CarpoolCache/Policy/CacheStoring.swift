/// What a head of the origin means for the store.
public struct CacheStoring: Sendable {
    /// A variant with its new properties.
    public struct Change: Sendable {
        /// The index of the variant.
        public var index: Int
        /// What it is from now on; its body stays.
        public var response: CachedResponse
    }

    /// What is stored once the body is complete; `nil` if nothing is. Its ``CachedResponse/bodyBytes`` is 0.
    public var response: CachedResponse?
    /// Why nothing is stored; `nil` if something is.
    public var refusal: CacheReason?
    /// How long the response is fresh, in milliseconds; negative if it is stale; `nil` without freshness.
    public var ttlMilliseconds: Int?
    /// Whether other requests may be given it without asking the origin: not with `no-cache`.
    public var mayBeShared = true
    /// Whether it stays in memory unless ``CacheSettings/storesSecretsOnDisk`` says otherwise (HC-07).
    public var isSecret = false
    /// The indices of variants that are removed: when the new response is stored, or at once if nothing is (HC-06).
    public var removed: [Int] = []
    /// Variants that a response to HEAD has changed (HV-06).
    public var changes: [Change] = []
}
