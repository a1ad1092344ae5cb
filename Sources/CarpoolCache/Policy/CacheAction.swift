/// What is done with a request.
public enum CacheAction {
    /// A response that is there is served; the origin is not asked.
    case serve(CacheAnswer)
    /// A stale response is served, and the origin is asked in the background.
    case serveAndRevalidate(CacheAnswer, CacheForwarding)
    /// The origin is asked whether what is stored is still valid.
    case revalidate(CacheForwarding)
    /// The origin is asked.
    case forward(CacheForwarding)
    /// The request fails, because it takes stored responses alone and none is there.
    case fail(CacheReason)
}
