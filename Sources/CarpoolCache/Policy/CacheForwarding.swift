public import CarpoolHTTP

/// How the origin is asked.
public struct CacheForwarding: Sendable {
    /// The fields of the request to send in place of its own; `nil` to send those.
    public var fields: [HTTPField]?
    /// Why the origin is asked, in the words of RFC 9211.
    public var forward: CacheOutcome.Forward
    /// Why the origin is asked.
    public var reason: CacheReason
    /// Whether the response may be stored.
    public var stores: Bool
    /// The indices of the variants that the request validates; empty if it is no validation.
    public var candidates: [Int] = []
    /// Whether the request is also sent with entity tags of the caller that the store has not, so that a 304 may mean
    /// those.
    var hasCallersConditions = false
    /// The fields of the same request without conditions of the store; `nil` for the request's own.
    var unconditionalFields: [HTTPField]?

    /// What the record of the hop says about a response that the origin sent in full.
    /// - Parameter storing: what the rules said about the head; `nil` without a head.
    public func outcome(_ storing: CacheStoring?, isStored: Bool) -> CacheOutcome {
        let isBypass = forward == .bypass || forward == .method
        let word = isStored || !stores ? reason : storing?.refusal ?? reason
        return CacheOutcome(
            isBypass ? .bypass : .miss, forward: forward, reason: word.rawValue,
            ttlMilliseconds: isStored ? storing?.ttlMilliseconds : nil, isStored: isStored)
    }
}
