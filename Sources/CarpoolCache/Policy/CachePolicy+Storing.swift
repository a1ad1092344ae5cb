public import CarpoolHTTP

extension CachePolicy {
    /// Whether a response is stored, and as what.
    /// - Parameter requested: when the request was sent.
    /// - Parameter received: when the head arrived.
    public func storing(
        _ head: ResponseHead, of request: CacheRequest, in variants: [CachedResponse], requested: CacheTime,
        received: CacheTime
    ) -> CacheStoring {
        guard request.use.stores, request.use.policy != .noStore else { return CacheStoring(refusal: .policy) }
        guard request.method == .get, !request.hasBody else { return CacheStoring(refusal: .method) }
        if request.control.has(.noStore) { return CacheStoring(refusal: .requestNoStore) }
        let fields = ResponseFields(head.fields, near: Freshness.seconds(received.wall))
        let names = VaryValue.names(in: head.fields.allBytes("vary"))
        if let refusal = refusal(of: head, fields, names, request, received) {
            // What was stored before is no longer what the origin says (HC-06).
            let isNewer = [.noStore, .private, .varyStar, .authorization, .noFreshness].contains(refusal)
            let removed = isNewer ? superseded(by: head.status, request, in: variants) : []
            return CacheStoring(refusal: refusal, removed: removed)
        }
        let response = stored(head, fields, names ?? [], request, requested, received)
        let freshness = freshness(of: response, for: request, at: received)
        return CacheStoring(
            response: response, ttlMilliseconds: freshness.ttlMilliseconds,
            mayBeShared: !fields.control.has(.noCache),
            isSecret: isSecret(head, request, names ?? []), removed: superseded(by: head.status, request, in: variants))
    }

    private func stored(
        _ head: ResponseHead, _ fields: ResponseFields, _ names: [String], _ request: CacheRequest,
        _ requested: CacheTime, _ received: CacheTime
    ) -> CachedResponse {
        let kept = StoredFields(of: head, fields, isShared: isShared)
        // A part answers a request for the same part.
        let all = head.status == 206 && !names.contains("range") ? names + ["range"] : names
        return CachedResponse(
            status: head.status, httpVersion: head.httpVersion,
            fields: kept.stored(head.fields, hasDate: fields.date != nil, received: received), requested: requested,
            received: received, vary: request.selectingFields(all), credentials: request.credentials,
            isDecoded: request.decodes(head.fields), ttlMilliseconds: request.use.ttlMilliseconds)
    }

    var isShared: Bool { settings.mode == .sharedCache }

    /// Why a response is not stored (HC-01 to HC-03); `nil` if it is.
    private func refusal(
        of head: ResponseHead, _ fields: ResponseFields, _ names: [String]?, _ request: CacheRequest,
        _ received: CacheTime
    ) -> CacheReason? {
        let control = fields.control
        if head.isTruncated { return .tooLarge }
        if head.status < 200 || head.status == 304 { return .notCacheableStatus }
        // The same request with an answer to the challenge has the same key.
        if head.status == 401 || head.status == 407 { return .notCacheableStatus }
        if head.status == 206, !isWholePart(request) { return .notCacheableStatus }
        if control.has(.mustUnderstand) {
            if !CachePolicy.isKnown(head.status) { return .mustUnderstand }
        } else if control.has(.noStore) {
            return .noStore
        }
        // Without a hash of who asked, the response could not be kept from others (HK-04).
        if request.isAuthorized, request.credentials == nil { return .authorization }
        if isShared, control.has(.isPrivate) { return .private }
        if isShared, request.isAuthorized, !allowsAuthorized(control) { return .authorization }
        if names == nil { return .varyStar }
        return freshnessRefusal(head.status, fields, request, received)
    }

    /// Whether the request asks for one part, and the response to it can be stored for the same request.
    private func isWholePart(_ request: CacheRequest) -> Bool {
        request.range != nil && !request.present.contains(.ifRange)
    }

    private func freshnessRefusal(
        _ status: Int, _ fields: ResponseFields, _ request: CacheRequest, _ received: CacheTime
    ) -> CacheReason? {
        let control = fields.control
        let stated = Freshness.stated(fields, received: Freshness.seconds(received.wall), isShared: isShared)
        if stated != nil || control.has(.isPublic) { return nil }
        if control.has(.isPrivate), !isShared { return nil }
        guard Freshness.isHeuristic(status) else { return .notCacheableStatus }
        if request.use.ttlMilliseconds != nil { return nil }
        if control.has(.noCache), fields.hasValidator { return nil }
        // Without heuristics, only one who takes a response of any age has a use for it.
        return settings.isHeuristic || request.use.policy == .returnCacheElseLoad ? nil : .noFreshness
    }

    private func allowsAuthorized(_ control: CacheControl) -> Bool {
        control.has(.isPublic) || control.has(.mustRevalidate) || control.sharedMaxAge != .absent
    }

    /// Whether a status is one of those that RFC 9110 defines.
    private static func isKnown(_ status: Int) -> Bool {
        switch status {
        case 200...206, 300...305, 307, 308, 400...417, 421, 422, 426, 500...505: true
        default: false
        }
    }

    /// Whether a response must not be written to disk without permission (HC-07).
    private func isSecret(_ head: ResponseHead, _ request: CacheRequest, _ names: [String]) -> Bool {
        request.credentials != nil || request.isAuthorized || request.hopFields?.cookie != nil
            || names.contains("cookie")
            || head.fields.has("set-cookie")
    }

    /// The stored responses that are never served any more once a newer one is stored: those that the request selects.
    /// Parts give way to a whole response of the same credentials.
    private func superseded(by status: Int, _ request: CacheRequest, in variants: [CachedResponse]) -> [Int] {
        variants.indices.filter { index in
            let response = variants[index]
            guard response.credentials == request.credentials, response.suits(request) else {
                return false
            }
            if status == 206 { return response.status == 206 && request.isSelecting(response.vary) }
            return response.status == 206 || request.isSelecting(response.vary)
        }
    }
}
