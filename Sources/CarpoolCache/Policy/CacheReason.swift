/// Why a response came from the store, why the origin was asked, or why a response was not stored: the words of
/// ``CacheOutcome/reason``.
public enum CacheReason: String, Sendable, CaseIterable {
    // Served from the store.
    case fresh
    case immutable
    case anyAge = "any_age"
    case staleAllowed = "stale_allowed"
    case staleWhileRevalidate = "stale_while_revalidate"
    case staleIfError = "stale_if_error"
    case staleIfOffline = "stale_if_offline"
    case validated
    case collapsed

    // The origin was asked.
    case notStored = "not_stored"
    case vary
    case credentials
    case decoding
    case expired
    case noFreshness = "no_freshness"
    case mustValidate = "must_validate"
    case invalidated
    case requestNoCache = "request_no_cache"
    case requestMaxAge = "request_max_age"
    case requestMinFresh = "request_min_fresh"
    case requestNoStore = "request_no_store"
    case onlyIfCached = "only_if_cached"
    case method
    case policy
    case range
    case conditional
    case pass
    case busy

    // Not stored.
    case noStore = "no_store"
    case `private`
    case authorization
    case varyStar = "vary_star"
    case notCacheableStatus = "not_cacheable_status"
    case mustUnderstand = "must_understand"
    case incomplete
    case tooLarge = "too_large"
    case memoryFull = "memory_full"
    case kind
    case handler
    /// The handler was asked, and has not answered yet.
    case handlerAsked = "handler_asked"
    case purged
    case storeOff = "store_off"
}

extension CacheReason {
    /// What it means, as a sentence for people.
    public var explanation: String {
        switch self {
        case .fresh: "The stored response is fresh."
        case .immutable: "The stored response is fresh and marked immutable, so the origin was not asked again."
        case .anyAge: "The policy takes a stored response of any age."
        case .staleAllowed: "The stored response is stale, and max-stale in the request allows that."
        case .staleWhileRevalidate:
            "The stored response is stale, and stale-while-revalidate allows its use while the origin is asked."
        case .staleIfError: "The origin failed, and a stale stored response may be used then."
        case .staleIfOffline: "The origin is out of reach, and a stale stored response may be used then."
        case .validated: "The origin said that the stored response is still valid."
        case .collapsed: "An identical request was under way, and its response was shared."
        case .notStored: "Nothing is stored for this URL."
        case .vary: "What is stored was selected by other request headers, which Vary names."
        case .credentials: "What is stored was received with other credentials."
        case .decoding: "What is stored has another content encoding than the request takes."
        case .expired: "The stored response is stale."
        default: otherExplanation
        }
    }

    private var otherExplanation: String {
        switch self {
        case .noFreshness: "The response says neither how long it is fresh nor what would make it usable later."
        case .mustValidate: "The stored response has no-cache: the origin must be asked each time."
        case .invalidated: "An unsafe request or a purge has invalidated the stored response."
        case .requestNoCache: "The request has no-cache."
        case .requestMaxAge: "The stored response is older than max-age in the request allows."
        case .requestMinFresh: "The stored response does not stay fresh for as long as min-fresh demands."
        case .requestNoStore: "The request has no-store."
        case .onlyIfCached: "The request has only-if-cached, and no usable response is stored."
        case .method: "Responses to this method are not stored."
        case .policy: "The policy of the request demands it."
        case .range: "The request has a range that is not cut from stored responses."
        case .conditional: "The request has a condition that only the origin evaluates."
        case .pass: "A response to this URL could not be shared, so identical requests do not wait for each other."
        case .busy: "The identical request under way did not answer in time."
        default: refusal
        }
    }

    private var refusal: String {
        switch self {
        case .noStore: "The response has no-store."
        case .private: "The response is marked private, and the store is shared."
        case .authorization: "The request had Authorization, and the response does not allow shared stores to keep it."
        case .varyStar: "The response has Vary: *, so that it fits no other request."
        case .notCacheableStatus: "Responses with this status are not stored."
        case .mustUnderstand: "The response has must-understand, and its status is not known."
        case .incomplete: "The response did not come to its end."
        case .tooLarge: "The response is larger than an entry may be."
        case .memoryFull: "There was no memory for the response."
        case .kind: "Responses to streams and downloads are not stored."
        case .handler: "The handler of the cache decided not to store it."
        case .handlerAsked: "The handler of the cache was asked, and has not answered yet."
        case .purged: "The store was purged while the response was received."
        default: "The store is turned off."
        }
    }
}
