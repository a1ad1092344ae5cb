public import CarpoolHTTP

extension CachePolicy {
    /// What is done with a head of the origin.
    /// - Parameter forwarding: how the origin was asked.
    /// - Parameter variants: those that ``action(for:in:at:)`` was passed.
    /// - Parameter requested: when the request was sent.
    /// - Parameter received: when the head arrived.
    public func reception(
        of head: ResponseHead, for request: CacheRequest, after forwarding: CacheForwarding,
        in variants: [CachedResponse], requested: CacheTime, received: CacheTime
    ) -> CacheReception {
        if head.status == 304, !forwarding.candidates.isEmpty {
            return validated(by: head, for: request, after: forwarding, in: variants, requested, received)
        }
        if CachePolicy.isFailure(head.status), !variants.isEmpty,
            let answer = staleAnswer(for: request, after: forwarding, in: variants, at: received, isOffline: false)
        {
            return .serve(answer)
        }
        guard forwarding.stores else { return .deliver(CacheStoring(refusal: forwarding.reason)) }
        if request.method == .head {
            var storing = CacheStoring(refusal: .method)
            storing.changes = changes(byHead: head, for: request, in: variants, requested, received)
            return .deliver(storing)
        }
        return .deliver(storing(head, of: request, in: variants, requested: requested, received: received))
    }

    /// Statuses that stand for a failure of the origin (RFC 5861, section 4).
    private static func isFailure(_ status: Int) -> Bool {
        status == 500 || status == 502 || status == 503 || status == 504
    }

    private func validated(
        by head: ResponseHead, for request: CacheRequest, after forwarding: CacheForwarding,
        in variants: [CachedResponse], _ requested: CacheTime, _ received: CacheTime
    ) -> CacheReception {
        let fields = ResponseFields(head.fields, near: Freshness.seconds(received.wall))
        let candidates = forwarding.candidates.filter(variants.indices.contains)
        guard let index = match(fields, candidates, in: variants, hasOthers: forwarding.hasCallersConditions) else {
            if forwarding.hasCallersConditions, isForCaller(fields, request) {
                return .deliver(CacheStoring(refusal: .notCacheableStatus))
            }
            return .sendAgain(forwarding.unconditionalFields ?? request.fields)
        }
        let response = updated(variants[index], by: head, fields, for: request, requested, received)
        let freshness = freshness(of: response, for: request, at: received)
        let selected = Selected(index: index, response: response, freshness: freshness)
        let answer = answer(
            selected, part(of: response, freshness, for: request), for: request, .revalidated, .validated,
            forward: forwarding.forward)
        let isKept = isKept(head, freshness.fields, request)
        return .update(CacheUpdate(index: index, response: isKept ? response : nil, answer: answer))
    }

    /// The stored response that a 304 is about (RFC 9111, section 4.3.4); `nil` for none, or if it is not certain. A
    /// tag may be weak on one side: origins that encode on the way weaken it in a 200 alone.
    private func match(
        _ fields: ResponseFields, _ candidates: [Int], in variants: [CachedResponse], hasOthers: Bool
    ) -> Int? {
        guard !fields.hasValidatorConflict else { return nil }
        if let tag = fields.entityTag {
            let tags = candidates.map { ($0, variants[$0].fields.agreedBytes("etag").flatMap { EntityTag($0) }) }
            return tags.first { $0.1.map { tag.isStronglyEqual(to: $0) } ?? false }?.0
                ?? tags.first { $0.1.map { tag.isWeaklyEqual(to: $0) } ?? false }?.0
        }
        guard !hasOthers else { return nil }
        if let modified = fields.lastModifiedValue {
            let equal = candidates.filter { variants[$0].fields.agreedBytes("last-modified") == modified }
            if let first = equal.first { return candidates.count == 1 || equal.count == 1 ? first : nil }
            // A tag has selected it already.
            let isTagged = candidates.count == 1 && variants[candidates[0]].fields.has("etag")
            return isTagged ? candidates[0] : nil
        }
        return candidates.count == 1 ? candidates[0] : nil
    }

    private func isForCaller(_ fields: ResponseFields, _ request: CacheRequest) -> Bool {
        guard let tag = fields.entityTag else { return false }
        return request.values("if-none-match").contains { $0.withUnsafeBytes { tag.isWeaklyIn($0) } }
    }

    /// Whether a response that a 304 has updated is kept: not if it says that it must not be.
    private func isKept(_ head: ResponseHead, _ fields: ResponseFields, _ request: CacheRequest) -> Bool {
        let control = fields.control
        if control.has(.noStore), !control.has(.mustUnderstand) { return false }
        if isShared, control.has(.isPrivate) { return false }
        return request.use.stores && VaryValue.names(in: head.fields.allBytes("vary")) != nil
    }

    /// A stored response with the fields of a 304, or of a response to HEAD (HV-02).
    private func updated(
        _ old: CachedResponse, by head: ResponseHead, _ fields: ResponseFields, for request: CacheRequest,
        _ requested: CacheTime, _ received: CacheTime
    ) -> CachedResponse {
        var response = old
        let kept = StoredFields(of: head, fields, isShared: isShared)
        // A cookie of the validation is that of its request alone.
        let news =
            head.fields.has("set-cookie")
            ? head.fields.filtered { !FieldBytes.matches($0, "set-cookie") } : head.fields
        response.fields = kept.updated(old.fields, by: news, hasDate: fields.date != nil, received: received)
        (response.requested, response.received) = (requested, received)
        response.isInvalidated = false
        if let ttl = request.use.ttlMilliseconds { response.ttlMilliseconds = ttl }
        let lines = head.fields.allBytes("vary")
        if !lines.isEmpty, let names = VaryValue.names(in: lines) { response.vary = request.selectingFields(names) }
        return response
    }

    /// What a response to HEAD says about the stored response to GET (HV-06).
    private func changes(
        byHead head: ResponseHead, for request: CacheRequest, in variants: [CachedResponse], _ requested: CacheTime,
        _ received: CacheTime
    ) -> [CacheStoring.Change] {
        guard head.status == 200, let selected = selected(for: request, in: variants, at: received),
            selected.response.status == 200
        else { return [] }
        let fields = ResponseFields(head.fields, near: Freshness.seconds(received.wall))
        var response = selected.response
        if isSame(head, fields, selected), isKept(head, fields, request) {
            // Without a validator nothing says whether the body is still the same.
            guard fields.hasValidator else { return [] }
            response = updated(response, by: head, fields, for: request, requested, received)
            // Equal lengths do not say that a request has changed nothing (RFC 9111, section 4.4); a strong tag does.
            let tag = selected.freshness.fields.entityTag
            let isProven = tag.flatMap { known in fields.entityTag.map { $0.isStronglyEqual(to: known) } } ?? false
            response.isInvalidated = selected.response.isInvalidated && !isProven
        } else {
            response.isInvalidated = true
        }
        return [CacheStoring.Change(index: selected.index, response: response)]
    }

    /// Whether the validators and the length in a response to HEAD are those of the stored response.
    private func isSame(_ head: ResponseHead, _ fields: ResponseFields, _ selected: Selected) -> Bool {
        let known = selected.freshness.fields
        guard !fields.hasValidatorConflict else { return false }
        if let tag = fields.entityTag, tag != known.entityTag { return false }
        if let modified = fields.lastModifiedValue, modified != known.lastModifiedValue { return false }
        guard let length = head.fields.allBytes("content-length").first,
            let stored = selected.response.fields.allBytes("content-length").first
        else { return true }
        return length == stored
    }
}
