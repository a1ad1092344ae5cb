internal import CarpoolHTTP

extension CachePolicy {
    /// What is done with a request.
    public func action(
        for request: CacheRequest, in variants: [CachedResponse], at now: CacheTime
    ) -> CacheAction {
        if let forwarding = bypass(request) { return withoutResponse(request, forwarding) }
        guard !variants.isEmpty else { return forwarded(request, .uriMiss, .notStored) }
        if !request.present.isDisjoint(with: .otherConditions) { return forwarded(request, .request, .conditional) }
        guard let selected = selected(for: request, in: variants, at: now) else {
            let (forward, reason) = missReason(for: request, in: variants)
            return forwarded(request, forward, reason)
        }
        let part = part(of: selected.response, selected.freshness, for: request)
        if part == .unsupported { return forwarded(request, .request, .range) }
        switch usage(of: selected, by: request) {
        case .serve(let status, let reason):
            return .serve(answer(selected, part, for: request, status, reason))
        case .serveStale(let reason):
            let answer = answer(selected, part, for: request, .stale, reason)
            guard request.method == .get, !request.control.has(.onlyIfCached) else { return .serve(answer) }
            return .serveAndRevalidate(answer, background(request, selected, in: variants))
        case .validate(let forward, let reason):
            return validation(request, selected, in: variants, forward, reason)
        }
    }

    /// How a stored response may be used.
    enum Usage {
        case serve(CacheOutcome.Status, CacheReason)
        case serveStale(CacheReason)
        case validate(CacheOutcome.Forward, CacheReason)
    }

    /// How the origin is asked for what the store is not asked for; `nil` if it is.
    private func bypass(_ request: CacheRequest) -> CacheForwarding? {
        let policy = request.use.policy
        if policy == .noStore { return CacheForwarding(forward: .bypass, reason: .policy, stores: false) }
        if !request.reads { return CacheForwarding(forward: .method, reason: .method, stores: false) }
        if request.control.has(.noStore) {
            return CacheForwarding(forward: .request, reason: .requestNoStore, stores: false)
        }
        guard policy == .reloadIgnoringCache else { return nil }
        let fields = request.use.ignoresRemote ? request.fields(demanding: "no-cache") : nil
        return CacheForwarding(fields: fields, forward: .request, reason: .policy, stores: request.use.stores)
    }

    /// What is done without a usable stored response.
    func withoutResponse(_ request: CacheRequest, _ forwarding: CacheForwarding) -> CacheAction {
        let policy = request.use.policy
        if policy == .returnCacheDontLoad { return .fail(forwarding.reason) }
        // A policy that does not ask the store says more than the field.
        if request.control.has(.onlyIfCached), policy != .reloadIgnoringCache, policy != .noStore, request.reads {
            return .serve(CacheAnswer.gatewayTimeout(forwarding.forward))
        }
        return .forward(forwarding)
    }

    private func forwarded(
        _ request: CacheRequest, _ forward: CacheOutcome.Forward, _ reason: CacheReason
    ) -> CacheAction {
        let fields = request.use.policy == .reloadRevalidating ? request.fields(demanding: "max-age=0") : nil
        return withoutResponse(
            request, CacheForwarding(fields: fields, forward: forward, reason: reason, stores: request.use.stores))
    }

    private func usage(of selected: Selected, by request: CacheRequest) -> Usage {
        let freshness = selected.freshness
        if selected.response.isInvalidated { return .validate(.stale, .invalidated) }
        switch request.use.policy {
        case .returnCacheElseLoad, .returnCacheDontLoad:
            return freshness.isFresh ? .serve(.hit, .fresh) : .serve(.stale, .anyAge)
        case .reloadRevalidating:
            let isImmutable = freshness.isFresh && freshness.fields.control.has(.immutable)
            return isImmutable ? .serve(.hit, .immutable) : .validate(.request, .policy)
        default:
            break
        }
        // A lifetime that the caller has set stands above the response's words about freshness.
        if freshness.fields.control.has(.noCache), selected.response.ttlMilliseconds == nil {
            return .validate(.stale, .mustValidate)
        }
        if let reason = demand(of: request, on: freshness) { return .validate(.request, reason) }
        return freshness.isFresh ? .serve(.hit, .fresh) : staleUsage(of: freshness, by: request)
    }

    /// The directive of a request that a stored response does not fulfil; `nil` if it fulfils all (HF-09).
    func demand(of request: CacheRequest, on freshness: Freshness) -> CacheReason? {
        guard !request.present.isDisjoint(with: [.cacheControl, .pragma]) else { return nil }
        if request.hasNoCache { return .requestNoCache }
        if let maxAge = request.control.maxAge.milliseconds, freshness.age > maxAge || maxAge == 0 {
            return .requestMaxAge
        }
        if let minFresh = request.control.minFresh.validMilliseconds, (freshness.remaining ?? 0) < minFresh {
            return .requestMinFresh
        }
        return nil
    }

    private func staleUsage(of freshness: Freshness, by request: CacheRequest) -> Usage {
        let reason: CacheReason = freshness.lifetime == nil ? .noFreshness : .expired
        guard !freshness.forbidsStale(settings.mode) else { return .validate(.stale, reason) }
        let limit = request.control.maxStale.validMilliseconds
        if request.control.has(.maxStale) || limit.map({ freshness.staleness <= $0 }) ?? false {
            return .serve(.stale, .staleAllowed)
        }
        let window = freshness.fields.control.staleWhileRevalidate.validMilliseconds ?? 0
        if request.use.revalidatesInBackground, freshness.staleness < window {
            return .serveStale(.staleWhileRevalidate)
        }
        return .validate(.stale, reason)
    }
}
