public import CarpoolHTTP

/// Changes a request before it is sent (RI-01).
public protocol RequestAdapter: AnyObject {
    /// Returns the request to send instead. Called for every attempt with a new request (RI-08). Answers once, now or
    /// later, on the session's loop; an answer that comes after the request has ended, or a second one, is ignored.
    func adapt(
        _ urlRequest: TransportRequest, for request: Request,
        completion: @escaping (Result<TransportRequest, SessionError>) -> Void)

    /// Whether the adapter always answers synchronously and without a failure: then ``adaptSynchronously(_:)`` is
    /// called in place of ``adapt(_:for:completion:)``, which saves a closure and copies of the request. The default is
    /// `false`.
    var adaptsSynchronously: Bool { get }
    /// Changes the request in place before it is sent. Called for every attempt with a new request (RI-08).
    func adaptSynchronously(_ urlRequest: inout TransportRequest)
}

extension RequestAdapter {
    /// The default: the adapter answers by ``adapt(_:for:completion:)``.
    public var adaptsSynchronously: Bool { false }
    /// Does not change the request.
    public func adaptSynchronously(_ urlRequest: inout TransportRequest) {}
}

/// Decides whether a failed request is retried (RI-02).
public protocol RequestRetrier: AnyObject {
    /// Decides about a failure. The request still holds the failed attempt's response, body and metrics;
    /// ``Request/retryCount`` counts the retries. Answers once, now or later, on the session's loop; an answer that
    /// comes after the request has ended, or a second one, is ignored.
    func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void)

    /// The statuses that are failures for the retrier although no validator checks the response. The default is none.
    var statusesWithoutValidation: Set<Int> { get }
    /// Whether a response with status 401 is no result, whatever the validators say: it refuses a credential that the
    /// retrier replaces. The default is `false`.
    func replacesCredential(of request: Request) -> Bool
    /// Whether the response of a request, of which the head has arrived, is retried for its status, unless an earlier
    /// retrier decides otherwise. The default is `false`.
    func retriesStatus(of request: Request) -> Bool
    /// The statuses that are retried once something treats them as failures. The default is none.
    var retriedStatuses: Set<Int> { get }
    /// The element that holds a credential: the retrier itself, or one that it contains. The default is none.
    var authentication: (any CredentialHolder)? { get }
    /// Whether it sends tokens that its owner does not know: no client reads the `Authorization` of its requests. The
    /// default is `false`.
    var hidesAuthorization: Bool { get }
}

extension RequestRetrier {
    /// The default: `false`.
    public func replacesCredential(of request: Request) -> Bool { false }
    /// The default: `false`.
    public func retriesStatus(of request: Request) -> Bool { false }
    /// The default: `false`.
    public var hidesAuthorization: Bool { false }
    /// The default: none.
    public var statusesWithoutValidation: Set<Int> { [] }
    /// The default: none.
    public var retriedStatuses: Set<Int> { [] }
    /// The default: none.
    public var authentication: (any CredentialHolder)? { nil }
}

/// An adapter and a retrier in one (RI-03: by default it neither adapts nor retries).
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// Returns the request unchanged.
    public func adapt(
        _ urlRequest: TransportRequest, for request: Request,
        completion: @escaping (Result<TransportRequest, SessionError>) -> Void
    ) {
        completion(.success(urlRequest))
    }

    /// Does not retry.
    public func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
        completion(.doNotRetry)
    }
}

/// The decision of a retrier (RL-11).
public enum RetryResult {
    /// Retry at once.
    case retry
    /// Retry after so many milliseconds.
    case retryWithDelay(milliseconds: Int)
    /// Retry at once, because the server has rejected a credential and there is a new one. Such retries count among the
    /// requests that servers cause, which have a maximum.
    case retryWithNewCredential
    /// Do not retry; the next retrier is asked.
    case doNotRetry
    /// Fail the request with `request_retry_failed`, which holds this error and the original one; no other retrier is
    /// asked.
    case doNotRetryWithError(SessionError)
}
