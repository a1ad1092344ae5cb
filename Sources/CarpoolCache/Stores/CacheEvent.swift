public import CarpoolHTTP

/// What happens in a store, besides what the tasks of requests report.
public enum CacheEvent: Sendable {
    /// Why responses became unusable.
    public enum Cause: String, Sendable {
        /// A request has changed the resource (HI-01).
        case method
        /// The site demands it (HI-03).
        case clearSiteData = "clear_site_data"
        /// A newer response must not be stored (HC-06).
        case noStore = "no_store"
        /// A purge.
        case purge
    }

    /// A response was stored.
    case stored(url: String, status: Int, bytes: Int, ttlMilliseconds: Int?, storage: CacheProposal.Storage)
    /// A request in the background has found that a response is still valid.
    case revalidated(url: String)
    /// Responses became unusable; those of one URL, or of several.
    case invalidated(url: String?, count: Int, cause: Cause)
    /// Responses were removed to make room.
    case evicted(count: Int, bytes: Int)
    /// The disk cannot be written; requests go on.
    case writeFailed(message: String, code: Int32?)
}

/// Receives what happens in stores.
public protocol CacheObserver: AnyObject {
    /// Something has happened in a store.
    func store(_ name: CacheStoreName, did event: CacheEvent)
}
