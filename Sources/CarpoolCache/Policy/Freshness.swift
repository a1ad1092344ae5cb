internal import CarpoolHTTP

/// How old a stored response is, and how long it may be used (RFC 9111, section 4.2).
struct Freshness {
    /// What its fields say.
    let fields: ResponseFields
    /// How long it is fresh, in milliseconds; `nil` without any word about it.
    let lifetime: Int64?
    /// Whether the lifetime stands in the response, or in the request that fetched it.
    let isExplicit: Bool
    /// The age that it is served with, in milliseconds.
    let age: Int64
    /// The age that counts against the lifetime, in milliseconds.
    private let countedAge: Int64

    /// Finds them.
    /// - Parameter hasQuery: whether the URL has a query.
    init(_ response: CachedResponse, hasQuery: @autoclosure () -> Bool, settings: CacheSettings, at now: CacheTime) {
        let received = Freshness.seconds(response.received.wall)
        fields = ResponseFields(response.fields, near: received)
        let resident = now.milliseconds(since: response.received)
        let apparent = fields.date.map { max(0, received &- $0) } ?? 0
        let delay = max(0, response.received.milliseconds(since: response.requested))
        let initial = max(apparent &* 1_000, fields.age * 1_000 &+ delay)
        age = initial &+ max(0, resident)
        if let ttl = response.ttlMilliseconds {
            (lifetime, isExplicit, countedAge) = (Int64(ttl), true, resident < 0 ? Int64.max : resident)
            return
        }
        // A clock that was set back between two runs of the machine says nothing about the age (HF-05).
        countedAge = resident < 0 ? Int64.max : age
        let stated = Freshness.stated(fields, received: received, isShared: settings.mode == .sharedCache)
        isExplicit = stated != nil
        lifetime = stated ?? Freshness.heuristic(response, fields, settings, hasQuery: hasQuery)
    }

    /// Whether it is fresh.
    var isFresh: Bool { lifetime.map { countedAge < $0 } ?? false }

    /// How long it has been stale, in milliseconds; 0 while it is fresh.
    var staleness: Int64 { max(0, countedAge - max(0, lifetime ?? 0)) }

    /// How long it stays fresh, in milliseconds; negative since it became stale; `nil` without freshness.
    var remaining: Int64? { lifetime.map { countedAge == Int64.max ? -1 : $0 &- countedAge } }

    /// ``remaining`` as outcomes have it.
    var ttlMilliseconds: Int? { remaining.map { Int(clamping: $0) } }

    /// Whether it must not be used while it is stale (HV-07).
    func forbidsStale(_ mode: CacheSettings.Mode) -> Bool {
        let control = fields.control
        if control.has(.noCache) || control.has(.mustRevalidate) { return true }
        return mode == .sharedCache && (control.has(.proxyRevalidate) || control.sharedMaxAge != .absent)
    }

    /// The lifetime that a response states (HF-01).
    static func stated(_ fields: ResponseFields, received: Int64, isShared: Bool) -> Int64? {
        if isShared, let shared = fields.control.sharedMaxAge.milliseconds { return shared }
        if let maxAge = fields.control.maxAge.milliseconds { return maxAge }
        guard fields.hasExpires else { return nil }
        return fields.expires.map { max(0, $0 &- (fields.date ?? received)) &* 1_000 } ?? 0
    }

    /// A tenth of the time since it was modified (HF-06).
    private static func heuristic(
        _ response: CachedResponse, _ fields: ResponseFields, _ settings: CacheSettings, hasQuery: () -> Bool
    ) -> Int64? {
        guard settings.isHeuristic, let modified = fields.lastModified, let date = fields.date, !fields.isJSON,
            isHeuristic(response.status) || fields.control.has(.isPublic), !hasQuery()
        else { return nil }
        return min(Int64(settings.heuristicMaximumMilliseconds), max(0, date &- modified) &* 100)
    }

    /// Whether responses of a status may be stored without a word about freshness (RFC 9110, section 15.1; not 206,
    /// which is a part).
    static func isHeuristic(_ status: Int) -> Bool {
        switch status {
        case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whole seconds, rounded down.
    static func seconds(_ milliseconds: Int64) -> Int64 {
        milliseconds >= 0 ? milliseconds / 1_000 : -((999 &- milliseconds) / 1_000)
    }
}
