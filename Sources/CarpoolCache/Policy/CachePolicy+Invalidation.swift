public import CarpoolHTTP

extension CachePolicy {
    /// What a response makes invalid: nothing if it is an error, or the method is known to be safe (HI-01 to HI-03).
    public static func invalidation(by head: ResponseHead, of request: CacheRequest) -> CacheInvalidation {
        var invalidation = CacheInvalidation()
        if request.url.origin.scheme == "https", clearsCache(head) { invalidation.origin = request.url.origin }
        guard !request.method.isSafe, (200..<400).contains(head.status) else { return invalidation }
        invalidation.urls = [request.url]
        for reference in [head.fields.firstReference("location"), head.fields.firstReference("content-location")] {
            guard let reference, let url = try? request.url.resolving(reference), url.origin == request.url.origin,
                !invalidation.urls.contains(where: { $0.description.utf8.elementsEqual(url.description.utf8) })
            else { continue }
            invalidation.urls.append(url)
        }
        return invalidation
    }

    /// Whether `Clear-Site-Data` names the cache, or everything.
    private static func clearsCache(_ head: ResponseHead) -> Bool {
        let names = FieldBytes.names(in: head.fields.allBytes("clear-site-data"))
        return names.contains(Array("\"cache\"".utf8)) || names.contains(Array("\"*\"".utf8))
    }
}
