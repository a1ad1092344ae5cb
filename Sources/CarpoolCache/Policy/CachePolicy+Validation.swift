internal import CarpoolHTTP

extension CachePolicy {
    /// The most entity tags that a request is sent with (HV-01).
    private static let maximumTags = 8

    /// A request that asks whether what is stored is still valid; one without conditions if nothing stored has a
    /// validator, or the method is HEAD, whose response says as much (HV-06).
    func validation(
        _ request: CacheRequest, _ selected: Selected, in variants: [CachedResponse],
        _ forward: CacheOutcome.Forward, _ reason: CacheReason
    ) -> CacheAction {
        var forwarding = CacheForwarding(forward: forward, reason: reason, stores: request.use.stores)
        let isDemanding = request.use.policy == .reloadRevalidating
        if isDemanding { forwarding.fields = request.fields(demanding: "max-age=0") }
        if request.method == .get {
            addConditions(&forwarding, request, selected, in: variants, keepsCallers: true)
        }
        if request.control.has(.onlyIfCached) { return withoutResponse(request, forwarding) }
        if request.use.policy == .returnCacheDontLoad { return .fail(reason) }
        return forwarding.candidates.isEmpty ? .forward(forwarding) : .revalidate(forwarding)
    }

    /// The request in the background that makes a response fresh again (HV-09): without the caller's range and
    /// conditions.
    func background(_ request: CacheRequest, _ selected: Selected, in variants: [CachedResponse]) -> CacheForwarding {
        var forwarding = CacheForwarding(forward: .stale, reason: .staleWhileRevalidate, stores: request.use.stores)
        forwarding.fields = request.fields.filter {
            !$0.isNamed("range") && !$0.isNamed("if-range") && !$0.isNamed("if-none-match")
                && !$0.isNamed("if-modified-since")
        }
        addConditions(&forwarding, request, selected, in: variants, keepsCallers: false)
        return forwarding
    }

    private func addConditions(
        _ forwarding: inout CacheForwarding, _ request: CacheRequest, _ selected: Selected,
        in variants: [CachedResponse], keepsCallers: Bool
    ) {
        let candidates = candidates(for: request, selected, in: variants)
        let callers = keepsCallers ? request.values("if-none-match") : []
        let isAny = callers.contains { $0 == [UInt8(ascii: "*")] }
        let tags = candidates.compactMap(\.tag)
        // The origin reads the caller's tags and nothing else, so its 304 says nothing about the store's response.
        guard !candidates.isEmpty, callers.isEmpty || isAny || !tags.isEmpty else { return }
        var fields = (forwarding.fields ?? request.fields).filter {
            !$0.isNamed("if-none-match") && !$0.isNamed("if-modified-since")
        }
        let own = tags.filter { tag in !callers.contains { $0.withUnsafeBytes { tag.isWeaklyIn($0) } } || isAny }
        let values = (isAny ? [] : callers) + own.map(\.bytes)
        append("If-None-Match", values, to: &fields)
        if let date = selected.freshness.fields.lastModifiedValue { append("If-Modified-Since", [date], to: &fields) }
        forwarding.unconditionalFields = forwarding.fields
        forwarding.fields = fields
        forwarding.candidates = candidates.map(\.index)
        forwarding.hasCallersConditions = !isAny && hasForeignTag(callers, tags)
    }

    /// The stored responses whose validators a request is sent with: the selected one first.
    private func candidates(
        for request: CacheRequest, _ selected: Selected, in variants: [CachedResponse]
    ) -> [(index: Int, tag: EntityTag?)] {
        let fields = selected.freshness.fields
        guard selected.response.status != 206 else { return [] }
        var candidates: [(index: Int, tag: EntityTag?)] = []
        if fields.hasValidator { candidates.append((selected.index, sendable(fields.entityTag))) }
        for index in variants.indices where index != selected.index && candidates.count < CachePolicy.maximumTags {
            let response = variants[index]
            guard response.status != 206, mismatch(response, request) == nil,
                let tag = response.fields.agreedBytes("etag").flatMap({ sendable(EntityTag($0)) })
            else { continue }
            candidates.append((index, tag))
        }
        // One without a tag cannot be told from the others if those have tags.
        return candidates.contains { $0.tag != nil } ? candidates.filter { $0.tag != nil } : candidates
    }

    /// Whether callers' tags have one that is none of the store's.
    private func hasForeignTag(_ callers: [[UInt8]], _ tags: [EntityTag]) -> Bool {
        callers.contains { list in
            list.withUnsafeBytes { bytes in
                var isForeign = false
                FieldBytes.forEachMember(of: bytes) { member in
                    let other = EntityTag(Array(member))
                    isForeign = !tags.contains { tag in other.map { $0.isWeaklyEqual(to: tag) } ?? false }
                    return !isForeign
                }
                return isForeign
            }
        }
    }

    private func sendable(_ tag: EntityTag?) -> EntityTag? {
        tag.flatMap { String(validating: $0.bytes, as: UTF8.self) == nil ? nil : $0 }
    }

    private func append(_ name: String, _ values: [[UInt8]], to fields: inout [HTTPField]) {
        let value = values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ")
        guard !value.isEmpty, let field = try? HTTPField(name: name, value: value) else { return }
        fields.append(field)
    }
}

extension CacheRequest {
    /// The fields with a directive, if they have no `Cache-Control`.
    func fields(demanding directive: String) -> [HTTPField]? {
        guard !present.contains(.cacheControl), let field = try? HTTPField(name: "Cache-Control", value: directive)
        else { return nil }
        return fields + [field]
    }
}
