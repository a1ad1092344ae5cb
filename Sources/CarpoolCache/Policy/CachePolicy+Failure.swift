public import CarpoolHTTP

extension CachePolicy {
    /// The stored response that is served because no response came from the origin; `nil` if none may be.
    public func answer(
        afterFailure error: TransportError, for request: CacheRequest, after forwarding: CacheForwarding,
        in variants: [CachedResponse], at now: CacheTime
    ) -> CacheAnswer? {
        guard !variants.isEmpty, CachePolicy.isOutOfReach(error) else { return nil }
        return staleAnswer(for: request, after: forwarding, in: variants, at: now, isOffline: true)
    }

    /// Whether an error says that the origin, or the way to it, does not work (HV-08): not one of trust, of a response
    /// that cannot be read, or of the caller's own limits for waiting in the queue.
    private static func isOutOfReach(_ error: TransportError) -> Bool {
        switch error.code {
        case .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .notConnectedToInternet,
            .proxyNotReachable, .proxyNetworkUnreachable, .proxyHostUnreachable, .proxyConnectionRefused,
            .proxyTTLExpired:
            true
        case .timedOut: error.timeout != "queue"
        default: false
        }
    }

    /// The stale response that may be served while the origin fails (HV-05, HV-07).
    func staleAnswer(
        for request: CacheRequest, after forwarding: CacheForwarding, in variants: [CachedResponse],
        at now: CacheTime, isOffline: Bool
    ) -> CacheAnswer? {
        let policy = request.use.policy
        guard policy == .useProtocol || policy == .returnCacheElseLoad, forwarding.forward != .method,
            forwarding.forward != .bypass, !request.control.has(.noStore),
            request.present.isDisjoint(with: .otherConditions),
            let selected = selected(for: request, in: variants, at: now), !selected.response.isInvalidated
        else { return nil }
        let freshness = selected.freshness
        let part = part(of: selected.response, freshness, for: request)
        guard part != .unsupported, !freshness.forbidsStale(settings.mode), demand(of: request, on: freshness) == nil
        else { return nil }
        let windows = [request.control.staleIfError, freshness.fields.control.staleIfError]
        let stated = windows.compactMap(\.validMilliseconds).max() ?? 0
        let forward = forwarding.forward
        if freshness.staleness < max(stated, Int64(settings.staleIfErrorMilliseconds)) {
            return answer(selected, part, for: request, .stale, .staleIfError, forward: forward)
        }
        guard isOffline, freshness.staleness < Int64(settings.staleIfOfflineMilliseconds) else { return nil }
        return answer(selected, part, for: request, .stale, .staleIfOffline, forward: forward)
    }
}
