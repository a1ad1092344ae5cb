internal import CarpoolHTTP

extension CachePolicy {
    /// Age and remaining freshness of a stored response, in milliseconds; no freshness without any word about it.
    func age(of response: CachedResponse, url: String, at now: CacheTime) -> (age: Int64, freshFor: Int64?) {
        let hasQuery = url.utf8.contains(UInt8(ascii: "?"))
        let freshness = Freshness(response, hasQuery: hasQuery, settings: settings, at: now)
        return (freshness.age, response.isInvalidated ? -1 : freshness.remaining)
    }

    /// When a stored response is of no more use, in milliseconds since 1970 (HS-06): when it is no longer fresh, and no
    /// rule allows to use it stale. `nil` for one that can be validated, or says nothing about its freshness.
    func usableUntil(_ response: CachedResponse, url: String) -> Int64? {
        let hasQuery = url.utf8.contains(UInt8(ascii: "?"))
        let freshness = Freshness(response, hasQuery: hasQuery, settings: settings, at: response.received)
        guard !freshness.fields.hasValidator, let remaining = freshness.remaining else { return nil }
        let control = freshness.fields.control
        let windows = [control.staleWhileRevalidate, control.staleIfError].map { $0.validMilliseconds ?? 0 }
        let settled = Int64(max(settings.staleIfErrorMilliseconds, settings.staleIfOfflineMilliseconds))
        return response.received.wall &+ max(0, remaining) &+ max(windows[0], windows[1], settled)
    }
}
