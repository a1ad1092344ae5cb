public import CarpoolHTTP

/// A response that is served without, or after, asking the origin.
public struct CacheAnswer: Sendable {
    /// The index of the variant whose body is served; `nil` for a response made here, which has no body, and for one
    /// that is being received for another request.
    public var index: Int?
    /// The head to deliver.
    public var head: ResponseHead
    /// The bytes of the stored body to deliver; `nil` for all of them.
    public var range: Range<Int>?
    /// Where it comes from.
    public var status: CacheOutcome.Status
    /// Why the origin was asked; `nil` if it was not.
    public var forward: CacheOutcome.Forward?
    /// Why it is served.
    public var reason: CacheReason
    /// The age; `nil` for a response made here.
    public var ageMilliseconds: Int?
    /// How long it stays fresh; negative since it became stale; `nil` without freshness.
    public var ttlMilliseconds: Int?

    /// What the record of the hop says about it.
    public var outcome: CacheOutcome {
        CacheOutcome(
            status, forward: forward, reason: reason.rawValue, ageMilliseconds: ageMilliseconds,
            ttlMilliseconds: ttlMilliseconds)
    }
}
