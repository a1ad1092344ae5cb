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

    /// Always `true`: requests are not changed.
    public var adaptsSynchronously: Bool { true }

    /// Returns the policy's decision at once.
    public func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
        completion(policy.decide(FailedAttempt(of: request, dueTo: error)))
    }
}
