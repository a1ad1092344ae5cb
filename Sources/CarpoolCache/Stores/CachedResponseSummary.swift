public import CarpoolHTTP

/// A stored response in a list.
public struct CachedResponseSummary: Sendable {
    /// The number of the entry.
    public let id: Int64
    /// The store.
    public let store: CacheStoreName
    /// The URL.
    public let url: String
    /// The head.
    public let response: CachedResponse
    /// The bytes of the body.
    public let bodyBytes: Int
    /// Whether it is on disk.
    public let isOnDisk: Bool
    /// How often it was served.
    public let hits: Int
    /// Its age by the rules of HTTP, in milliseconds.
    public let ageMilliseconds: Int64
    /// How long it stays fresh, in milliseconds; negative since it became stale; `nil` without freshness.
    public let freshForMilliseconds: Int64?
}
