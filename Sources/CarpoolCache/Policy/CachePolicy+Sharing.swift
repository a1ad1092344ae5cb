internal import CarpoolHTTP

extension CachePolicy {
    /// Whether a request that the origin is asked may share the response to an identical one (HX-01).
    public func mayShare(_ request: CacheRequest, after forwarding: CacheForwarding) -> Bool {
        // The response to HEAD is not stored, so that nobody else could be given it.
        guard settings.coalesces, request.use.coalesces, request.use.stores, request.method == .get, request.reads,
            forwarding.stores
        else { return false }
        switch request.use.policy {
        case .useProtocol, .returnCacheElseLoad, .reloadRevalidating: break
        default: return false
        }
        return request.present.isDisjoint(with: [.conditions, .otherConditions, .range, .ifRange])
            && !request.control.has(.noStore)
    }

    /// What two requests for one key have in common if they may share a response (HX-02): all that selects it.
    public func sharingSignature(of request: CacheRequest, in variants: [CachedResponse]) -> [UInt8] {
        var signature = Array(request.method.rawValue.utf8)
        let isDemanding = request.use.policy == .reloadRevalidating
        signature += [0, request.decoding.number, isDemanding ? 1 : 0, request.credentials == nil ? 0 : 1]
        signature += request.credentials ?? []
        for name in selectingNames(of: request, in: variants).sorted() {
            guard let value = request.selectingValue(of: name) else { continue }
            // The lengths keep a value from being read as the next name.
            signature += Array("\(name.utf8.count):\(value.count):\(name):".utf8) + value
        }
        return signature
    }

    /// The names of the fields that are compared: those that stored responses name, or else all but those that say
    /// nothing about the response.
    private func selectingNames(of request: CacheRequest, in variants: [CachedResponse]) -> Set<String> {
        var names: Set<String> = ["cache-control", "pragma"]
        if request.use.store.isShared { names.insert(CacheRequest.unlisted) }
        guard variants.isEmpty else {
            for response in variants { names.formUnion(response.vary.map(\.name)) }
            return names
        }
        let meaningless: Set<String> = ["user-agent", "referer", "traceparent", "tracestate", "baggage"]
        for field in request.fields { names.insert(field.name.lowercased()) }
        if request.hopFields?.cookie != nil { names.insert("cookie") }
        return names.subtracting(meaningless)
    }

    /// Whether the response to another request may be used for this one too (HX-03). The caller compares method and
    /// ``sharingSignature(of:in:)``.
    /// - Parameter storing: what ``reception(of:for:after:in:requested:received:)`` said about the other's head.
    public func fits(_ storing: CacheStoring, _ request: CacheRequest) -> Bool {
        storing.mayBeShared && storing.response.map { isShareable($0, with: request) } ?? false
    }

    private func isShareable(_ response: CachedResponse, with request: CacheRequest) -> Bool {
        response.credentials == request.credentials && response.suits(request) && response.status != 206
            && request.isSelecting(response.vary)
    }

    /// Whether a response whose body is still arriving may be used for a request that came after its head: as if it
    /// were stored already.
    public func fitsLate(_ storing: CacheStoring, _ request: CacheRequest, at now: CacheTime) -> Bool {
        guard fits(storing, request), let response = storing.response else { return false }
        switch request.use.policy {
        case .returnCacheElseLoad: return true
        case .useProtocol: break
        default: return false
        }
        let freshness = freshness(of: response, for: request, at: now)
        return freshness.isFresh && demand(of: request, on: freshness) == nil
    }

    /// The answer for all requests that share a response to another one: its head, with the index `nil`, as the body is
    /// that of the transfer.
    /// - Parameter request: any of them.
    public func sharedAnswer(_ response: CachedResponse, for request: CacheRequest, at now: CacheTime) -> CacheAnswer {
        let freshness = freshness(of: response, for: request, at: now)
        let fields = CachePolicy.aged(response.fields, freshness.age, hiding: freshness.fields.control.noCacheFields)
        return CacheAnswer(
            index: nil, head: response.head(response.status, fields), status: .collapsed, reason: .collapsed,
            ageMilliseconds: Int(clamping: freshness.age), ttlMilliseconds: freshness.ttlMilliseconds)
    }
}
