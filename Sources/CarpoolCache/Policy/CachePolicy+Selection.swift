internal import CarpoolHTTP

extension CachePolicy {
    /// A stored response that a request selects.
    struct Selected {
        let index: Int
        let response: CachedResponse
        let freshness: Freshness
    }

    /// The newest stored response that a request selects; `nil` if it selects none.
    func selected(for request: CacheRequest, in variants: [CachedResponse], at now: CacheTime) -> Selected? {
        var newest: Int?
        for index in variants.indices where mismatch(variants[index], request) == nil {
            if let known = newest, variants[known].received.milliseconds(since: variants[index].received) > 0 {
                continue
            }
            newest = index
        }
        guard let newest else { return nil }
        let response = variants[newest]
        return Selected(index: newest, response: response, freshness: freshness(of: response, for: request, at: now))
    }

    /// How old a response is.
    func freshness(of response: CachedResponse, for request: CacheRequest, at now: CacheTime) -> Freshness {
        Freshness(response, hasQuery: request.hasQuery, settings: settings, at: now)
    }

    /// Why a stored response is not for a request (HK-04 to HK-07); `nil` if it is.
    func mismatch(_ response: CachedResponse, _ request: CacheRequest) -> CacheReason? {
        if response.status == 206, request.present.contains(.ifRange) || request.method == .head { return .range }
        let isOthers = response.credentials != nil && response.credentials != request.credentials
        if isOthers || response.credentials == nil && request.isAuthorized { return .credentials }
        if !response.suits(request) { return .decoding }
        if request.isSelecting(response.vary) { return nil }
        return response.status == 206 ? .range : .vary
    }

    /// Why no stored response is for a request, if none is.
    func missReason(
        for request: CacheRequest, in variants: [CachedResponse]
    ) -> (CacheOutcome.Forward, CacheReason) {
        var reasons: Set<CacheReason> = []
        for response in variants {
            if let reason = mismatch(response, request) { reasons.insert(reason) }
        }
        for reason in [CacheReason.vary, .credentials, .decoding] where reasons.contains(reason) {
            return (.varyMiss, reason)
        }
        return reasons.contains(.range) ? (.partial, .range) : (.uriMiss, .notStored)
    }
}

extension CachedResponse {
    /// Whether its body is what a request would get: encoded or decoded bytes, if the origin has encoded them (HK-06).
    func suits(_ request: CacheRequest) -> Bool {
        isDecoded == request.decodes(fields) || !fields.has("content-encoding")
    }
}
