/// Retries according to a policy.
public final class PolicyRetrier: RequestInterceptor {
    /// The policy that decides.
    public let policy: RetryPolicy

    /// Makes a retrier.
    public init(_ policy: RetryPolicy) { self.policy = policy }

    /// Those of the policy.
    public var statusesWithoutValidation: Set<Int> { policy.statusesWithoutValidation }
    /// Those of the policy.
    public var retriedStatuses: Set<Int> { policy.statuses }

    /// Always `true`: requests are not changed.
    public var adaptsAtOnce: Bool { true }

    /// Returns the policy's decision at once.
    public func retry(_ request: Request, dueTo error: SessionError, completion: @escaping (RetryResult) -> Void) {
        completion(policy.decide(FailedAttempt(of: request, dueTo: error)))
    }
}
