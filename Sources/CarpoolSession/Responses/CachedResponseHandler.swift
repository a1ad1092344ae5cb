public import CarpoolHTTP

/// What happens to a response that the cache is about to store (CH-01 to CH-05). It is asked for every response that
/// the rules of HTTP allow to store, after all data.
public enum CachedResponseHandler {
    /// The response is stored (CH-01).
    case cache
    /// It is not stored (CH-02).
    case doNotCache
    /// A closure decides at once (CH-03).
    case modify((CacheProposal) -> CacheProposal.Decision)
    /// A decider decides, now or later; the request does not wait for it.
    case ask(any CachedResponseDecider)

    /// Decides about a proposal.
    /// - Parameter request: the request whose response it is.
    func decide(about proposal: CacheProposal, of request: AnyObject) {
        switch self {
        case .cache: proposal.decide(.store)
        case .doNotCache: proposal.decide(.doNotStore)
        case .modify(let body): proposal.decide(body(proposal))
        case .ask(let decider): decider.decide(about: proposal, of: request)
        }
    }
}

/// Decides about responses that are about to be stored, now or later.
public protocol CachedResponseDecider: AnyObject {
    /// Calls ``CacheProposal/decide(_:)`` once. A proposal that is released without a decision is not stored.
    /// - Parameter request: the `Request` whose response it is.
    func decide(about proposal: CacheProposal, of request: AnyObject)
}
