/// The settings of a store of responses, the same for all requests that use it.
public struct CacheSettings: Hashable, Sendable {
    /// The kind of a cache (RFC 9111, section 1).
    public enum Mode: String, Sendable, CaseIterable {
        /// For one user: responses marked `private` are stored, and `s-maxage` has no meaning.
        case privateCache = "private"
        /// For several users.
        case sharedCache = "shared"
    }

    /// The kind of the cache.
    public var mode = Mode.privateCache
    /// The most bytes of the store on disk; 0 for a store in memory alone.
    public var diskBytes = 268_435_456
    /// The most bytes of a stored body; `nil` for a twentieth of ``diskBytes``, or for what memory allows if that is 0.
    public var maximumEntryBytes: Int?
    /// Whether a response without explicit freshness is fresh for a tenth of its age (RFC 9111, section 4.2.2).
    public var isHeuristic = true
    /// The longest heuristic freshness, in milliseconds.
    public var heuristicMaximumMilliseconds = 3_600_000
    /// How long after its freshness a stored response is used when the origin fails, in milliseconds, unless the
    /// response says more.
    public var staleIfErrorMilliseconds = 0
    /// How long after its freshness a stored response is used when the origin is out of reach, in milliseconds.
    public var staleIfOfflineMilliseconds = 0
    /// Whether identical requests under way are made once.
    public var coalesces = true
    /// How long a request waits for the head of an identical one, in milliseconds.
    public var coalesceWaitMilliseconds = 5_000
    /// Whether responses to requests with credentials, and those with `Set-Cookie`, are stored on disk too.
    public var storesSecretsOnDisk = false

    /// The defaults of a session that declares a cache.
    public init() {}
}
