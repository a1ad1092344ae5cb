public import CarpoolHTTP

/// How a request uses the cache of its session. A member that is `nil` takes the session's value.
public struct RequestCaching {
    /// How stored responses are used.
    public var policy: RequestCachePolicy?
    /// Whether ``RequestCachePolicy/reloadIgnoringCache`` also asks caches on the way to ask the origin.
    public var ignoresRemote: Bool?
    /// The freshness of the response in place of the one that it says, in milliseconds.
    public var ttlMilliseconds: Int?
    /// Whether the response of a download is stored (HC-09).
    public var storesDownloads: Bool?
    /// What happens to a response that is about to be stored (CH-04).
    public var handler: CachedResponseHandler?

    /// Makes values that are all the session's.
    public init() {}
}

/// The cache of a session.
public struct SessionCaching {
    /// The name of the store, which sessions of a user share by naming it; `nil` for a store of the session's own
    /// (HK-03).
    public var storeName: String?
    /// The settings of the store.
    public var settings = CacheSettings()
    /// How requests use it, unless they say more.
    public var defaults = RequestCaching()

    /// Makes a cache with the default settings.
    public init() {}

    /// The cache of a session that declares none: in memory, with explicit freshness alone, and without identical
    /// requests made once.
    public static var standard: SessionCaching {
        var caching = SessionCaching()
        caching.settings.diskBytes = 0
        caching.settings.isHeuristic = false
        caching.settings.coalesces = false
        return caching
    }
}
