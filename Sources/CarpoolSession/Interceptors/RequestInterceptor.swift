public import CarpoolHTTP

/// Changes a request before it is sent (RI-01).
public protocol RequestAdapter: AnyObject {
    /// Gives the request to send instead. Called for every attempt with the fresh request (RI-08). Answers once, now or later, on the session's
    /// loop; an answer that comes after the request has ended, or a second one, is ignored.
    func adapt(
        _ urlRequest: TransportRequest, for request: Request,
        completion: @escaping (Result<TransportRequest, SessionError>) -> Void)

    /// Whether every request is changed here and now, and never refused: then ``adaptAtOnce(_:)`` is called in place of
    /// ``adapt(_:for:completion:)``, which spares an answer and copies of the request. `false` unless it says otherwise.
    var adaptsAtOnce: Bool { get }
    /// Changes the request to the one that is sent instead. Called for every attempt with the fresh request (RI-08).
    func adaptAtOnce(_ urlRequest: inout TransportRequest)
}

extension RequestAdapter {
    /// It gives an answer.
    public var adaptsAtOnce: Bool { false }
    /// Leaves the request as it is.
    public func adaptAtOnce(_ urlRequest: inout TransportRequest) {}
}

/// Decides whether a request that has failed is sent again (RI-02).
public protocol RequestRetrier: AnyObject {
    /// Decides. The request still holds the failed attempt's response, body and metrics; ``Request/retryCount`` counts the retries so far.
    /// Answers once, now or later, on the session's loop; an answer that comes after the request has ended, or a second one, is ignored.
    func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void)
}

/// Both (RI-03: adapts nothing and retries nothing unless it says otherwise).
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// Leaves the request as it is.
    public func adapt(
        _ urlRequest: TransportRequest, for request: Request,
        completion: @escaping (Result<TransportRequest, SessionError>) -> Void
    ) {
        completion(.success(urlRequest))
    }

    /// Leaves the failure as it is.
    public func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
        completion(.doNotRetry)
    }
}

/// What a retrier decides (RL-11).
public enum RetryResult {
    /// Send it again at once.
    case retry
    /// Send it again after so many milliseconds.
    case retryWithDelay(milliseconds: Int)
    /// This retrier has no objection to the failure; the next one is asked.
    case doNotRetry
    /// The request fails with `request_retry_failed`, which holds this error and the original one; nobody else is asked.
    case doNotRetryWithError(SessionError)
}
