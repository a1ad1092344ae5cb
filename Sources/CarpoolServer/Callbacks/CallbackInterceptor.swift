internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

/// Asks a client to adapt requests, to decide about retries, or both (RI-01, RI-02).
final class CallbackInterceptor: RequestInterceptor {
    private let callback: CallbackEndpoint
    /// The maximum number of retries without an answer of the client, and the first delay: those of Alamofire's default
    /// retry policy (RT-01 to RT-03).
    private static let fallbackRetryLimit = 2
    private static let fallbackDelayMilliseconds = 500

    init(_ callback: CallbackEndpoint) { self.callback = callback }

    func adapt(
        _ urlRequest: TransportRequest, for request: Request,
        completion: @escaping (Result<TransportRequest, SessionError>) -> Void
    ) {
        guard callback.specification.adapts else { return completion(.success(urlRequest)) }
        let (callback, hidden) = (callback, request.hidden(of: urlRequest))
        callback.ask("callback.adapt", about: request) { writer, detail in
            writer.key("url_request")
            CallbackBody.write(urlRequest, of: request, detail, to: &writer)
        } read: { (answer) throws(JSONError) -> Result<TransportRequest, SessionError> in
            if let refusal = callback.refusal(in: answer) { return .failure(refusal) }
            return .success(try RequestChange(answer, hidden: hidden).applied(to: urlRequest))
        } completion: { result in
            switch result {
            case .success(let adapted): completion(adapted)
            case .failure where callback.specification.fallback == .skip: completion(.success(urlRequest))
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
        guard callback.specification.retries else { return completion(.doNotRetry) }
        let (callback, record) = (callback, callback.broker.record)
        let (response, url, count) = (request.response, request.url, request.retryCount)
        callback.ask("callback.retry", about: request) { writer, detail in
            writer.key("error")
            record.write(error, to: &writer)
            if let response {
                writer.key("response")
                record.write(response, url: url, detail.head, to: &writer)
            }
            writer.member("retry_count", count)
        } read: { (answer) throws(JSONError) -> RetryResult in
            CallbackInterceptor.decision(in: answer, of: callback.specification.name)
        } completion: { result in
            completion(
                (try? result.get()) ?? CallbackInterceptor.decision(without: callback.specification, after: count))
        }
    }

    private static func decision(in answer: JSON, of name: String) -> RetryResult {
        switch answer["decision"]?.string {
        case "retry":
            let delay = answer["delay_ms"]?.int ?? 0
            return delay > 0 ? .retryWithDelay(milliseconds: delay) : .retry
        case "do_not_retry_with_error":
            let message = answer["message"]?.string ?? "the client decided against a retry"
            return .doNotRetryWithError(.clientRefused(name, message: message))
        default: return .doNotRetry
        }
    }

    private static func decision(without specification: CallbackSpecification, after retries: Int) -> RetryResult {
        guard specification.fallback == .retry, retries < fallbackRetryLimit else { return .doNotRetry }
        return .retryWithDelay(milliseconds: fallbackDelayMilliseconds << retries)
    }
}
