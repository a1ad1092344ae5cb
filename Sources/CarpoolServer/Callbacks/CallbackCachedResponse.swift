internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

/// Asks a client whether a response is stored (CH-03). The request does not wait for the answer.
final class CallbackCachedResponse: CachedResponseDecider {
    private let callback: CallbackEndpoint

    init(_ callback: CallbackEndpoint) { self.callback = callback }

    func decide(about proposal: CacheProposal, of request: AnyObject) {
        guard let request = request as? Request else { return proposal.decide(.doNotStore) }
        let (record, fallback) = (callback.broker.record, callback.specification.fallback)
        let url = request.url
        let sent = request.urlRequest
        callback.ask("callback.cache", about: request, outlivesRequest: true) { writer, detail in
            if let sent {
                writer.key("url_request")
                CallbackBody.write(sent, of: request, detail, to: &writer)
            }
            writer.key("response")
            record.write(proposal.head, url: url, detail.head, to: &writer)
            writer.key("body")
            writer.beginObject()
            writer.member("size_bytes", proposal.body.count)
            writer.endObject()
            writer.key("proposed")
            writer.beginObject()
            if let ttl = proposal.ttlMilliseconds, ttl >= 0 { writer.member("ttl_ms", ttl) }
            writer.member("storage", proposal.storage.rawValue)
            writer.endObject()
        } read: { (answer) throws(JSONError) -> CacheProposal.Decision in
            if answer["decision"]?.isString("cache") == true { return .store }
            guard answer["decision"]?.isString("modify") == true else { return .doNotStore }
            return try CacheModification(answer, path: "result").decision
        } completion: { result in
            switch result {
            case .success(let decision): proposal.decide(decision)
            case .failure: proposal.decide(fallback == .cache ? .store : .doNotStore)
            }
        }
    }
}
