extension CachePolicy {
    /// Age and remaining freshness of a stored response, in milliseconds; no freshness without any word about it.
    func age(of response: CachedResponse, url: String, at now: CacheTime) -> (age: Int64, freshFor: Int64?) {
        let hasQuery = url.utf8.contains(UInt8(ascii: "?"))
        let freshness = Freshness(response, hasQuery: hasQuery, settings: settings, at: now)
        return (freshness.age, response.isInvalidated ? -1 : freshness.remaining)
    }
}
