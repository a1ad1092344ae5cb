/// What the cache did for a hop, in the words of RFC 9211. An immutable object, because the metrics of every hop have a
/// reference to it, and few have one.
public final class CacheOutcome: Sendable {
    /// Where the response came from.
    public enum Status: String, Sendable, CaseIterable {
        /// The store; it was fresh, or the policy takes any age.
        case hit
        /// The store; it was stale.
        case stale
        /// The store, after the origin said that it is still valid.
        case revalidated
        /// The origin, by an identical request that was under way.
        case collapsed
        /// The origin; the store had nothing usable.
        case miss
        /// The origin; the store was not asked.
        case bypass
    }

    /// Why the origin was asked (RFC 9211, section 2.2).
    public enum Forward: String, Sendable, CaseIterable {
        /// Nothing is stored for the URL.
        case uriMiss = "uri-miss"
        /// What is stored for the URL was for other request fields.
        case varyMiss = "vary-miss"
        /// What is stored is stale.
        case stale
        /// The request demands it.
        case request
        /// The method's responses are not stored.
        case method
        /// What is stored is a part.
        case partial
        /// The cache is turned off for the request.
        case bypass
    }

    /// Where the response came from.
    public let status: Status
    /// Why the origin was asked; `nil` if it was not.
    public let forward: Forward?
    /// The reason for the outcome: a word of a documented list.
    public let reason: String
    /// The age of the stored response in milliseconds, when it was served; `nil` without one.
    public let ageMilliseconds: Int?
    /// How long it stays fresh, in milliseconds; negative since it became stale; `nil` without freshness.
    public let ttlMilliseconds: Int?
    /// Whether the response of this hop was stored.
    public let isStored: Bool

    /// Makes an outcome.
    public init(
        _ status: Status, forward: Forward? = nil, reason: String, ageMilliseconds: Int? = nil,
        ttlMilliseconds: Int? = nil, isStored: Bool = false
    ) {
        self.status = status
        self.forward = forward
        self.reason = reason
        self.ageMilliseconds = ageMilliseconds
        self.ttlMilliseconds = ttlMilliseconds
        self.isStored = isStored
    }

    /// Whether the body came from the store, so that the network brought none.
    public var isFromStore: Bool { status == .hit || status == .stale || status == .revalidated }
}
