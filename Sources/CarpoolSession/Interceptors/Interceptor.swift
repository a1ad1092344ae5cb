public import CarpoolHTTP

/// Several adapters and retriers as one interceptor (RI-04, RI-05).
///
/// Each adapter gets the result of the one before; the first failure ends the chain. Retriers are asked one at a time
/// until one of them decides something other than ``RetryResult/doNotRetry``.
public final class Interceptor: RequestInterceptor {
    /// The first element that holds a credential, so that a new one can be set.
    public let authentication: (any CredentialHolder)?
    /// The statuses that a retry policy treats as failures although no validator checks the response.
    public let statusesWithoutValidation: Set<Int>
    /// The statuses that are retried once something treats them as failures.
    public let retriedStatuses: Set<Int>

    /// Whether one of them sends tokens that no client may read.
    public let hidesAuthorization: Bool

    /// Whether all adapters adapt at once.
    public let adaptsSynchronously: Bool

    private let adapters: [any RequestAdapter]
    private let retriers: [any RequestRetrier]

    /// Makes an interceptor: the adapters or retriers run first, then the interceptors, each in the given order.
    public init(
        adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) {
        // Most are made for one request, of adapters or retriers alone: then nothing is copied.
        var (adapters, retriers) = (adapters, retriers)
        for interceptor in interceptors {
            adapters.append(interceptor)
            retriers.append(interceptor)
        }
        self.adapters = adapters
        self.retriers = retriers
        adaptsSynchronously = adapters.allSatisfy(\.adaptsSynchronously)
        hidesAuthorization = retriers.contains(where: \.hidesAuthorization)
        var authentication: (any CredentialHolder)?
        var statuses: Set<Int> = []
        var retried: Set<Int> = []
        // There is nearly always one policy; its sets are shared, not copied for each request.
        func join(_ set: inout Set<Int>, _ more: Set<Int>) {
            if !more.isEmpty { set = set.isEmpty ? more : set.union(more) }
        }
        for retrier in self.retriers {
            join(&statuses, retrier.statusesWithoutValidation)
            join(&retried, retrier.retriedStatuses)
            authentication = authentication ?? retrier.authentication
        }
        self.authentication = authentication
        statusesWithoutValidation = statuses
        retriedStatuses = retried
    }

    /// Applies every adapter to the request, in order.
    public func adaptSynchronously(_ urlRequest: inout TransportRequest) {
        for adapter in adapters { adapter.adaptSynchronously(&urlRequest) }
    }

    /// Applies every adapter to the request, in order, and waits for those that answer later.
    public func adapt(
        _ urlRequest: TransportRequest, for request: Request,
        completion: @escaping (Result<TransportRequest, SessionError>) -> Void
    ) {
        adapt(urlRequest, for: request, by: adapters[...], completion)
    }

    private func adapt(
        _ urlRequest: TransportRequest, for request: Request, by adapters: ArraySlice<any RequestAdapter>,
        _ completion: @escaping (Result<TransportRequest, SessionError>) -> Void
    ) {
        var urlRequest = urlRequest
        var others = adapters
        while let adapter = others.popFirst() {
            if adapter.adaptsSynchronously {
                adapter.adaptSynchronously(&urlRequest)
                continue
            }
            // The answer of the last adapter is the result.
            guard !others.isEmpty else { return adapter.adapt(urlRequest, for: request, completion: completion) }
            let answer = OneShotCompletion<Result<TransportRequest, SessionError>>()
            adapter.adapt(urlRequest, for: request) { answer.complete($0) }
            let rest = others
            let immediate = answer.result { [self] later in
                guard case .success(let adapted) = later else { return completion(later) }
                adapt(adapted, for: request, by: rest, completion)
            }
            guard let immediate else { return }
            guard case .success(let adapted) = immediate else { return completion(immediate) }
            urlRequest = adapted
        }
        completion(.success(urlRequest))
    }

    /// Whether one of the retriers replaces the credential.
    public func replacesCredential(of request: Request) -> Bool {
        retriers.contains { $0.replacesCredential(of: request) }
    }

    /// Whether one of the retriers retries the status.
    public func retriesStatus(of request: Request) -> Bool { retriers.contains { $0.retriesStatus(of: request) } }

    /// Asks every retrier, in order, until one decides.
    public func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
        retry(request, dueTo: error, askedOf: retriers[...], completion)
    }

    private func retry(
        _ request: Request, dueTo error: SessionError, askedOf retriers: ArraySlice<any RequestRetrier>,
        _ completion: @escaping (RetryResult) -> Void
    ) {
        var others = retriers
        while let retrier = others.popFirst() {
            let answer = OneShotCompletion<RetryResult>()
            retrier.retry(request, dueTo: error) { answer.complete($0) }
            let rest = others
            let immediate = answer.result { [self] later in
                guard case .doNotRetry = later else { return completion(later) }
                retry(request, dueTo: error, askedOf: rest, completion)
            }
            guard let immediate else { return }
            guard case .doNotRetry = immediate else { return completion(immediate) }
        }
        completion(.doNotRetry)
    }
}

extension SessionConfiguration {
    /// The element of the session's interceptor that holds a credential, so that a new one can be set.
    public var authentication: (any CredentialHolder)? { interceptor?.authentication }
}
