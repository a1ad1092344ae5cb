internal import CarpoolHTTP

/// What a store has done since it was made.
public struct CacheCounters: Sendable {
    /// Responses served without asking the origin, fresh ones.
    public var hits = 0
    /// The same with stale ones.
    public var staleHits = 0
    /// Responses served after the origin said that they are valid.
    public var revalidated = 0
    /// Requests answered by an identical one under way.
    public var collapsed = 0
    /// Requests that waited for an identical one.
    public var waits = 0
    /// Requests sent to the origin because the store had nothing usable.
    public var misses = 0
    /// Requests sent to the origin without a look at the store.
    public var bypassed = 0
    /// Both by reason.
    public var reasons: [String: Int] = [:]
    /// Responses stored.
    public var stored = 0
    /// Responses that a changing request, a site or a purge made unusable.
    public var invalidated = 0
    /// Responses removed to make room.
    public var evicted = 0
    /// Stored responses whose body was damaged.
    public var corrupt = 0
    /// Failures to write to the disk.
    public var writeFailures = 0
    /// Bytes of bodies served from the store.
    public var savedBytes: Int64 = 0

    /// Zeroes.
    public init() {}

    /// Counts the outcome of a hop.
    mutating func count(_ outcome: CacheOutcome) {
        switch outcome.status {
        case .hit: hits += 1
        case .stale: staleHits += 1
        case .revalidated: revalidated += 1
        case .collapsed: collapsed += 1
        case .miss, .bypass:
            if outcome.status == .miss { misses += 1 } else { bypassed += 1 }
            reasons[outcome.reason, default: 0] += 1
        }
    }
}
