/// How a request uses stored responses, in the words of URLRequest.CachePolicy.
public enum RequestCachePolicy: String, Sendable, CaseIterable {
    /// The rules of HTTP decide (RFC 9111).
    case useProtocol = "use_protocol"
    /// The origin is asked; the response is stored as usual.
    case reloadIgnoringCache = "reload_ignoring_cache"
    /// A stored response is used, of any age; else the origin is asked.
    case returnCacheElseLoad = "return_cache_else_load"
    /// A stored response is used, of any age; else the request fails, and the origin is not asked.
    case returnCacheDontLoad = "return_cache_dont_load"
    /// The origin is asked whether the stored response is still valid.
    case reloadRevalidating = "reload_revalidating"
    /// Nothing is read from the store, and nothing is stored.
    case noStore = "no_store"
}
