internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

/// Asks a client whether to follow redirects (RH-03).
final class CallbackRedirectDecider: RedirectDecider {
    private let callback: CallbackEndpoint

    init(_ callback: CallbackEndpoint) { self.callback = callback }

    func redirect(
        _ request: Request, after response: ResponseHead, to proposed: TransportRequest,
        completion: @escaping (Result<TransportRequest?, SessionError>) -> Void
    ) {
        let (record, url, fallback) = (callback.broker.record, request.url, callback.specification.fallback)
        let hidden = request.hidden(of: proposed)
        callback.ask("callback.redirect", about: request) { writer, detail in
            writer.key("response")
            record.write(response, url: url, detail.head, to: &writer)
            writer.key("url_request")
            CallbackBody.write(proposed, of: request, detail, to: &writer)
        } read: { (answer) throws(JSONError) -> TransportRequest? in
            guard answer["decision"]?.isString("follow") == true else { return nil }
            return try RequestChange(answer, hidden: hidden).applied(to: proposed)
        } completion: { result in
            switch (result, fallback) {
            case (.failure, .follow): completion(.success(proposed))
            case (.failure, .doNotFollow): completion(.success(nil))
            default: completion(result)
            }
        }
    }
}
