/// Retries according to a policy.
public final class PolicyRetrier: RequestInterceptor {
    /// The policy that decides.
    public let policy: RetryPolicy

    /// Makes a retrier.
    public init(_ policy: RetryPolicy) { self.policy = policy }

    /// The statuses that the policy treats as failures even without a validator.
    public var statusesWithoutValidation: Set<Int> { policy.statusesWithoutValidation }
    /// The statuses that the policy retries.
    public var retriedStatuses: Set<Int> { policy.retriedStatuses }

    /// Whether the policy treats the status as a failure, and would retry it now.
    public func retriesStatus(of request: Request) -> Bool {
        guard let status = request.response?.status, statusesWithoutValidation.contains(status) else { return false }
        let failure = FailedAttempt(of: request, dueTo: .unacceptableStatusCode(status))
        if case .doNotRetry = policy.decide(failure) { return false }
        return true
    }

    /// Always `true`: requests are not changed.
    public var adaptsSynchronously: Bool { true }

    /// Returns the policy's decision at once.
    public func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
        completion(policy.decide(FailedAttempt(of: request, dueTo: error)))
    }
}
